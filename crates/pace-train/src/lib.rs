//! Training, evaluation and embedding of DAG encoders.
