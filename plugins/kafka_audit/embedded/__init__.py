"""The engine DuckDB inside this process: the files of `differences`, in its words, without Java. No other package uses DuckDB."""
