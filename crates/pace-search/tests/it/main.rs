//! Integration tests of pace-search, one binary.

mod oracle_asia;
mod oracle_bic;
mod oracle_exact;
mod oracle_na;
mod oracle_nas101;
mod oracle_nas301;
mod oracle_observations;
mod oracle_table;
mod surrogate_bound;
mod surrogate_fit;
mod surrogate_published;
mod surrogate_sample;
