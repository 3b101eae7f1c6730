"""Measures a vault by a file of questions: what is found, what is answered, and what another configuration would do.

`questions` reads them and `linking` their links, `naming` finds the notes they name, `running` asks them, `figures` and
`statistics` measure, `report` sums up by kind of question and `telling` words it.
"""

from vault_ask.evaluation.questions import Asked, read_questions
from vault_ask.evaluation.report import Report, report
from vault_ask.evaluation.running import Results, Scored, answer_all, rank_all, read_rankings, score

__all__ = [
    "Asked",
    "Report",
    "Results",
    "Scored",
    "answer_all",
    "rank_all",
    "read_questions",
    "read_rankings",
    "report",
    "score",
]
