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
#[cfg(all(unix, feature = "postgres"))]
mod postgres_server;
mod search_climb;
mod search_curve;
mod search_encoded;
mod search_journal;
mod search_known;
mod search_latent;
mod search_once;
mod search_pool;
mod search_published;
mod search_quality;
mod search_reach;
mod search_relearn;
mod search_replay;
mod search_resume;
mod search_round_trip;
mod search_sample;
mod search_together;
#[cfg(all(unix, feature = "postgres"))]
mod study_crashes;
mod study_laws;
#[cfg(all(unix, feature = "postgres"))]
mod study_postgres;
mod study_share;
mod surrogate_additive;
mod surrogate_bound;
mod surrogate_fit;
mod surrogate_gpytorch;
mod surrogate_published;
mod surrogate_sample;
