//! A search that is killed and resumed is the search that was never killed.

use std::fs;

use pace_search::strategy::{BayesianOptimisationConfig, Protocol, StrategyConfig};
use pace_search::{Header, Journal, Trace, run};
use tempfile::TempDir;

use crate::search_sample::{Fragile, bayes, chains, strategies, with_strategy};

#[test]
fn killed_at_any_line_the_trace_is_the_same() {
    let (chains, folder) = (chains(200, 1), TempDir::new().unwrap());
    let mut configs = strategies();
    configs.push(StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig {
        local_search: true,
        protocol: Protocol::Published,
        ..bayes()
    })));
    for config in &configs {
        let header = Header::new(config.name(), 5, serde_json::to_value(config).unwrap());
        let search = |journal: &mut Journal| -> Trace {
            with_strategy(config, &chains, 5, |strategy| run(strategy, &Fragile, journal, 14, 3, &mut |_| {}).unwrap())
        };
        let path = folder.path().join("whole");
        let mut journal = Journal::open(&path, header.clone()).unwrap();
        let trace = search(&mut journal);
        let history = journal.history().clone();
        drop(journal);
        assert!(trace.len() >= 14 && trace.best().is_some());
        let text = fs::read_to_string(&path).unwrap();
        for n_lines in 0..=text.lines().count() {
            fs::write(&path, text.split_inclusive('\n').take(n_lines).collect::<String>()).unwrap();
            let mut journal = Journal::open(&path, header.clone()).unwrap();
            assert_eq!(search(&mut journal), trace, "{} after {n_lines} lines", config.name());
            assert_eq!(*journal.history(), history);
        }
        // Memory and file are the same search.
        let mut memory = Journal::in_memory(header);
        assert_eq!(search(&mut memory), trace);
        assert_eq!(*memory.history(), history);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_larger_budget_goes_on() {
    let chains = chains(100, 2);
    let config = StrategyConfig::Random;
    let mut journal = Journal::in_memory(Header::new("random", 1, serde_json::Value::Null));
    let mut search = |budget| {
        let mut n_steps = 0;
        let trace = with_strategy(&config, &chains, 1, |strategy| {
            run(strategy, &Fragile, &mut journal, budget, 4, &mut |_| n_steps += 1).unwrap()
        });
        (trace.len(), n_steps)
    };
    assert_eq!(search(6), (6, 6));
    assert_eq!(search(6), (6, 0));
    assert_eq!(search(9), (9, 3));
}
