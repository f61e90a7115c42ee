//! Integration tests of pace-search, one binary.

mod acquisition;
mod dngo;
mod fantasy;
mod oracle_asia;
mod oracle_bic;
mod oracle_exact;
mod oracle_na;
mod oracle_observations;
mod surrogate_bound;
mod surrogate_fit;
mod surrogate_published;
mod surrogate_sample;
