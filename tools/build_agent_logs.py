"""Writes tests/audit/logs/recorded: logs of agents, made by the libraries that write them.

    pip install openai-agents sqlalchemy langgraph langgraph-checkpoint-sqlite pydantic-ai-slim openai httpx \
        opentelemetry-sdk opentelemetry-exporter-otlp-proto-common \
        opentelemetry-instrumentation-openai-v2==2.3b0 "wrapt<2"
    python tools/build_agent_logs.py

Run by hand, in an environment of its own; the result is committed, and none of these is needed for anything else. No
model is asked: answers are written here. Last made with openai-agents 0.24.0, langgraph 1.2.24 with
langgraph-checkpoint-sqlite 3.1.2, opentelemetry-sdk 1.45.2 and pydantic-ai-slim 2.
"""

import asyncio
import gzip
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "tests" / "audit" / "logs" / "recorded"

ORDER = '{"order": "W123", "status": "shipped"}'
CALL = {"name": "get_order", "args": {"order": "W123"}, "id": "c1"}


def packed(database: Path, name: str) -> None:
    """Keep a database without its free pages, compressed."""
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA page_size = 1024")
        connection.execute("VACUUM")
    connection.close()
    (TARGET / f"{name}.gz").write_bytes(gzip.compress(database.read_bytes(), mtime=0))


def langgraph(folder: Path) -> None:
    """A thread with a tool call, forked from an earlier checkpoint, and one whose graph has a sub-graph."""
    graph, messages = import_module("langgraph.graph"), import_module("langchain_core.messages")
    saver = import_module("langgraph.checkpoint.sqlite").SqliteSaver
    told = {"response_metadata": {"model_name": "gpt-5.2", "model_provider": "openai", "id": "resp-1"}}

    def usage(input: int, output: int, cached: int) -> dict[str, object]:
        details = {"input_token_details": {"cache_read": cached}}
        return {
            "usage_metadata": {
                "input_tokens": input,
                "output_tokens": output,
                "total_tokens": input + output,
                **details,
            }
        }

    replies = iter(
        [
            messages.AIMessage(content="", tool_calls=[CALL], **told, **usage(1400, 12, 0)),
            messages.AIMessage(content="It was shipped.", **usage(1450, 5, 1280)),
            messages.AIMessage(content=[{"type": "text", "text": "To Oslo."}, {"type": "reasoning", "reasoning": "?"}]),
            messages.AIMessage(content="To Bergen."),
        ]
    )

    def agent(state: Any) -> dict[str, object]:
        return {"messages": [next(replies)]}

    def tools(state: Any) -> dict[str, object]:
        call = state["messages"][-1].tool_calls[0]
        return {"messages": [messages.ToolMessage(content=ORDER, tool_call_id=call["id"], name=call["name"])]}

    def then(state: Any) -> str:
        return "tools" if state["messages"][-1].tool_calls else "__end__"

    file = folder / "langgraph.sqlite"
    connection = sqlite3.connect(file, check_same_thread=False)
    built = graph.StateGraph(graph.MessagesState)
    built.add_node("agent", agent)
    built.add_node("tools", tools)
    built.add_edge("__start__", "agent")
    built.add_conditional_edges("agent", then)
    built.add_edge("tools", "agent")
    app = built.compile(checkpointer=saver(connection))
    thread = {"configurable": {"thread_id": "support-1"}}
    app.invoke({"messages": [messages.SystemMessage("You help."), messages.HumanMessage("Where is W123?")]}, thread)
    app.invoke({"messages": [messages.HumanMessage("Where to?")]}, thread)
    states = [state for state in app.get_state_history(thread) if not state.next]
    earlier = min(states, key=lambda state: len(state.values["messages"]))
    app.invoke({"messages": [messages.HumanMessage("Which harbour?")]}, earlier.config)

    inner = graph.StateGraph(graph.MessagesState)
    inner.add_node("worker", lambda _: {"messages": [messages.AIMessage(content="Three berths are free.")]})
    inner.add_edge("__start__", "worker")
    compiled = inner.compile(checkpointer=True)
    outer = graph.StateGraph(graph.MessagesState)
    outer.add_node("berths", compiled)
    outer.add_edge("__start__", "berths")
    app = outer.compile(checkpointer=saver(connection))
    app.invoke({"messages": [messages.HumanMessage("Which berths?")]}, {"configurable": {"thread_id": "harbour"}})
    connection.commit()
    connection.close()
    packed(file, file.name)


def openai_agents(folder: Path) -> None:
    """A plain session, and an advanced one with a branch and usage."""
    agents, memory = import_module("agents"), import_module("agents.extensions.memory")
    responses, reported = (
        import_module("openai.types.responses"),
        import_module("openai.types.responses.response_usage"),
    )

    class Scripted(import_module("agents.models.interface").Model):  # type: ignore[misc]
        asked = 0

        async def get_response(self, *args: object, **more: object) -> Any:
            self.asked += 1
            if self.asked == 1:
                made = [
                    responses.ResponseReasoningItem(id="rs_1", type="reasoning", summary=[], encrypted_content="gAAA"),
                    responses.ResponseFunctionToolCall(
                        id="fc_1", call_id="c1", name="get_order", arguments='{"order": "W123"}', type="function_call"
                    ),
                ]
            else:
                said = responses.ResponseOutputText(text=f"Answer {self.asked}.", type="output_text", annotations=[])
                made = [
                    responses.ResponseOutputMessage(
                        id=f"msg_{self.asked}", role="assistant", type="message", status="completed", content=[said]
                    )
                ]
            took = agents.Usage(
                requests=1,
                input_tokens=1000 * self.asked,
                output_tokens=10,
                total_tokens=1000 * self.asked + 10,
                input_tokens_details=reported.InputTokensDetails(
                    cached_tokens=512 * (self.asked - 1), cache_write_tokens=0
                ),
                output_tokens_details=reported.OutputTokensDetails(reasoning_tokens=0),
            )
            return agents.ModelResponse(output=made, usage=took, response_id=f"resp_{self.asked}")

        def stream_response(self, *args: object, **more: object) -> Any:
            raise NotImplementedError

    def get_order(order: str) -> str:
        return ORDER

    def agent() -> Any:
        tools = [agents.function_tool(get_order)]
        return agents.Agent(name="helper", instructions="You help.", tools=tools, model=Scripted())

    async def run() -> None:
        plain = agents.SQLiteSession("support-1", folder / "openai_agents.sqlite")
        helper = agent()
        await agents.Runner.run(helper, "Where is W123?", session=plain)
        await agents.Runner.run(helper, "Sure?", session=plain)
        plain.close()
        advanced = memory.AdvancedSQLiteSession(
            session_id="support-2", db_path=folder / "openai_agents_advanced.sqlite", create_tables=True
        )
        helper = agent()
        for said in ("Where is W123?", "Sure?"):
            await advanced.store_run_usage(await agents.Runner.run(helper, said, session=advanced))
        await advanced.create_branch_from_turn(2, "again")
        await advanced.store_run_usage(await agents.Runner.run(helper, "Where to?", session=advanced))
        advanced.close()

    asyncio.run(run())
    for name in ("openai_agents.sqlite", "openai_agents_advanced.sqlite"):
        packed(folder / name, name)


def spans_of_pydantic_ai() -> None:
    """Two runs of one conversation as an agent records them now: messages in attributes, a span printed a line."""
    lines: list[str] = []
    provider = _provider(lambda span: lines.append(span.to_json(indent=None)))
    ai, said = import_module("pydantic_ai"), import_module("pydantic_ai.messages")
    took = import_module("pydantic_ai.usage").RequestUsage
    asked = iter(range(1, 9))

    def answer(messages: Any, info: Any) -> Any:
        number = next(asked)
        usage = took(input_tokens=1000 * number, output_tokens=7, cache_read_tokens=1024 * (number - 1))
        call = said.ToolCallPart("get_order", {"order": "W123"}, tool_call_id="c1")
        part = call if number == 1 else said.TextPart("It was shipped.")
        return said.ModelResponse(parts=[part], usage=usage, model_name="gpt-5.2")

    settings = import_module("pydantic_ai.models.instrumented").InstrumentationSettings(tracer_provider=provider)
    ai.Agent.instrument_all(settings)
    agent = ai.Agent(
        import_module("pydantic_ai.models.function").FunctionModel(answer, model_name="gpt-5.2"),
        instructions="You help.",
        name="helper",
    )

    def get_order(order: str) -> str:
        return ORDER

    agent.tool_plain(get_order)
    first = agent.run_sync("Where is W123?")
    agent.run_sync("Sure?", message_history=first.all_messages())
    ai.Agent.instrument_all(False)
    _written("opentelemetry_attributes.jsonl", (_without_place(json.loads(line)) for line in lines))


def spans_of_openai() -> None:
    """Two requests as instrumentations recorded them before: OTLP, the content in log records beside the spans."""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
    encode = import_module("google.protobuf.json_format").MessageToDict
    spans = import_module("opentelemetry.exporter.otlp.proto.common.trace_encoder").encode_spans
    logs = import_module("opentelemetry.exporter.otlp.proto.common._log_encoder").encode_logs
    documents: list[dict[str, object]] = []
    provider = _provider(lambda span: documents.append(encode(spans([span]))))
    sdk_logs = import_module("opentelemetry.sdk._logs")
    exporting = import_module("opentelemetry.sdk._logs.export")
    logger = sdk_logs.LoggerProvider()

    base: Any = exporting.LogRecordExporter

    class Keep(base):  # type: ignore[misc]
        def export(self, batch: Any) -> Any:
            documents.append(encode(logs(batch)))
            return exporting.LogRecordExportResult.SUCCESS

        def shutdown(self) -> None: ...

        def force_flush(self, timeout_millis: int = 0) -> bool:
            return True

    logger.add_log_record_processor(exporting.SimpleLogRecordProcessor(Keep()))
    instrumentor = import_module("opentelemetry.instrumentation.openai_v2").OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider, logger_provider=logger)
    http, openai = import_module("httpx"), import_module("openai")

    def answer(request: Any) -> Any:
        body = json.loads(request.content)
        called = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order": "W123"}'}}
        message: dict[str, object] = {"role": "assistant", "content": "It was shipped."}
        if body["messages"][-1]["role"] == "user":
            message = {"role": "assistant", "content": None, "tool_calls": [called]}
        number = len(body["messages"])
        usage = {"prompt_tokens": 1000 + number, "completion_tokens": 7, "total_tokens": 1007 + number}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "gpt-5.2"}
        return http.Response(200, json={**reply, "choices": [choice], "usage": usage})

    client = openai.OpenAI(
        api_key="-", base_url="http://localhost:1/v1", http_client=http.Client(transport=http.MockTransport(answer))
    )
    said: list[dict[str, object]] = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Where is W123?"},
    ]
    with provider.get_tracer("app").start_as_current_span("turn"):
        for _ in range(2):
            reply = client.chat.completions.create(model="gpt-5.2", messages=said).choices[0].message
            said.append(reply.model_dump(exclude_none=True))
            said.append({"role": "tool", "tool_call_id": "c1", "content": ORDER})
    instrumentor.uninstrument()
    _written("opentelemetry_events.jsonl", documents)


def _provider(keep: Any) -> Any:
    trace, export = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.sdk.trace.export")

    base: Any = export.SpanExporter

    class Keep(base):  # type: ignore[misc]
        def export(self, spans: Any) -> Any:
            for span in spans:
                keep(span)
            return export.SpanExportResult.SUCCESS

    provider = trace.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(Keep()))
    return provider


def _without_place(span: dict[str, Any]) -> dict[str, Any]:
    """A span without what says nothing here and is long."""
    span.pop("resource", None)
    for name in ("model_request_parameters", "logfire.json_schema"):
        span["attributes"].pop(name, None)
    return span


def _written(name: str, documents: Any) -> None:
    lines: Iterator[str] = (json.dumps(document) for document in documents)
    (TARGET / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        langgraph(Path(folder))
        openai_agents(Path(folder))
    spans_of_pydantic_ai()
    spans_of_openai()
    for file in sorted(TARGET.iterdir()):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
