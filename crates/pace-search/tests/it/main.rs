//! Integration tests of pace-search, one binary.

mod acquisition;
#[path = "../../benches/surrogate/data.rs"]
mod data;
mod dngo;
mod fantasy;
mod metrics;
mod oracle_asia;
mod oracle_bic;
mod oracle_exact;
mod oracle_na;
mod oracle_nas101;
mod oracle_nas301;
mod oracle_observations;
mod oracle_table;
mod search_curve;
mod search_journal;
mod search_latent;
mod search_once;
mod search_pool;
mod search_published;
mod search_quality;
mod search_reach;
mod search_resume;
mod search_round_trip;
mod search_sample;
mod search_together;
mod surrogate_bound;
mod surrogate_fit;
mod surrogate_gpytorch;
mod surrogate_published;
mod surrogate_sample;
