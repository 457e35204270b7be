# SPDX-License-Identifier: GPL-2.0-only
"""A table as a file, CSV or Parquet: the same columns, types and last digits either way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from astra_py.errors import ConfigError
from astra_py.results.columns import TABLES, Columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "read_table", "require_writable", "write_table"]

#: Values of ``results.format``, and the suffixes of the files that each means.
FORMATS: Mapping[str, tuple[str, ...]] = {"csv": ("csv",), "parquet": ("parquet",), "both": ("csv", "parquet")}
#: Units that columns' names end in, and what they are.
_UNITS = {"_ps": "ps", "_us": "us", "_bytes": "B", "_GBps": "GB/s", "_Gbps": "Gb/s", "_percent": "%"}


def require_writable(form: str) -> None:
    """Check that tables can be written in a format.

    Raises
    ------
    ConfigError : there is no such format, or it needs a package that is not installed.
    """
    if form not in FORMATS:
        raise ConfigError(f"format {form!r}; allowed: {', '.join(FORMATS)}")
    if "parquet" in FORMATS[form]:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ConfigError(
                f"results.format = {form!r} needs pyarrow; install the extra: pip install 'astra-py[parquet]'"
            ) from None


def write_table(frame: pd.DataFrame, table: str, folder: Path, form: str, about: Mapping[str, str]) -> None:
    """Write a table in a format.

    Parameters
    ----------
    frame, table : the table, and its name.
    folder : where its files go.
    form : one of :data:`FORMATS`.
    about : what a Parquet file says of where it is from, beside unit and meaning of each column.
    """
    if "csv" in FORMATS[form]:
        frame.to_csv(folder / f"{table}.csv", index=False)
    if "parquet" in FORMATS[form]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = {"int64": pa.int64(), "float64": pa.float64(), "str": pa.string()}
        schema = pa.schema(
            [
                pa.field(
                    column.name,
                    kinds[column.dtype],
                    metadata={"meaning": column.meaning, "unit": _unit(column.name)},
                )
                for column in TABLES[table]
            ],
            metadata={"table": table, **about},
        )
        arrays = [pa.array(frame[field.name].to_numpy(), type=field.type) for field in schema]
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / f"{table}.parquet")


def _unit(column: str) -> str:
    return next((unit for end, unit in _UNITS.items() if column.endswith(end)), "")


def read_table(table: str, folder: Path, rows: int) -> Columns:
    """Read a table, of CSV where there is one.

    Raises
    ------
    ConfigError : there is no file, or not the table of so many rows.
    """
    path = folder / f"{table}.csv"
    if not path.exists() and (folder / f"{table}.parquet").exists():
        path = folder / f"{table}.parquet"
    columns = TABLES[table]
    try:
        frame = _read_csv(path, table) if path.suffix == ".csv" else _read_parquet(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not the table {table}: {error}") from error
    if len(frame) != rows or list(frame.columns) != [column.name for column in columns]:
        raise ConfigError(f"{path}: not the table of {rows} rows that the manifest names")
    # of a CSV file without a row, no float was converted
    return {
        column.name: frame[column.name].to_numpy(dtype="float64" if column.dtype == "float64" else None)
        for column in columns
    }


def _read_csv(path: Path, table: str) -> pd.DataFrame:
    import pandas as pd

    columns = TABLES[table]
    return pd.read_csv(
        path,
        dtype={column.name: column.dtype for column in columns if column.dtype != "float64"},
        # pandas' own reading of floats is not exact in all of its versions
        converters={column.name: _to_float for column in columns if column.dtype == "float64"},
        keep_default_na=False,
    )


def _read_parquet(path: Path) -> pd.DataFrame:
    require_writable("parquet")
    import pyarrow.parquet as pq

    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    return frame


def _to_float(text: str) -> float:
    return float(text or "nan")
