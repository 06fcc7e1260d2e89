"""Running tools: what is offered, what may run, the record of every attempt, and what is not known after a crash."""
