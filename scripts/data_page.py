"""Writes the page of the tables that `arena export matches` makes, from arena/records/tables.py: `docs/reference/data-sets.md`."""

from collections.abc import Iterator, Mapping
from typing import Final

from arena.records.tables import COLUMNS, NUMBERS

HEAD: Final = """\
# Data sets

<!-- Written by scripts/reference_pages.py from arena/records/tables.py: do not edit. -->

This page describes the data sets of published matches, for [research](../research.md#data).
`arena export matches FOLDER --as parquet` writes three tables, in files by game: `FOLDER/TABLE/game=GAME/part-00000.parquet`.
`--as jsonl` writes the same rows as lines of JSON. The column `game` is in the path of a file. Only published replays are exported, so
deal-sets that are not complete are left out. A file that is not complete ends in `.writing`.

This query of DuckDB returns the mean score and thinking time of each bot:

```sql
select game, bot, count(*) as matches, avg(score) as score, sum(charged_us) / sum(decisions) / 1000 as ms
from read_parquet('data-set/seats/*/*.parquet', hive_partitioning = true)
group by all order by game, score desc
```

These lines of polars, which reads no more columns than it needs, count how often each move was chosen:

```python
import polars as pl

decisions = pl.scan_parquet("data-set/decisions/**/*.parquet", hive_partitioning=True)
moves = decisions.filter(pl.col("fault").is_null()).group_by("game", "verb").len()
print(moves.sort("game", "len", descending=[False, True]).collect())
```
"""


def page() -> str:
    """Return the page."""
    lines = [HEAD]
    for table, columns in COLUMNS.items():
        lines += [f"## {table}\n", *_table(columns), ""]
        if table == "decisions":
            lines += [
                "With `--tensors`, decisions have these columns as well:\n",
                *_table(NUMBERS),
                "",
            ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(columns: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield "| column | type | meaning |\n|---|---|---|"
    for name, (kind, meaning) in columns.items():
        yield f"| `{name}` | {kind} | {meaning} |"
