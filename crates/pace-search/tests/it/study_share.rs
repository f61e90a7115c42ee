//! One search by several workers: threads in memory, processes on a journal.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pace_graph::Dag;
use pace_search::oracle::Oracle;
use pace_search::strategy::{EvolutionConfig, Strategy, StrategyConfig};
use pace_search::{Claim, Error, Header, Journal, Study, Worker, answer, keep, run, run_shared};
use tempfile::TempDir;

use crate::search_sample::{Fragile, chains, with_strategy};
use crate::study_laws::{candidate, header};

/// Names the journal that a copy of this test binary answers.
const VARIABLE: &str = "PACE_TEST_SHARED";
const BUDGET: usize = 60;

/// The oracle of the other tests, with some time for processes to die in.
pub struct Slow(pub Duration);

impl Oracle for Slow {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        std::thread::sleep(self.0);
        Fragile.evaluate(dags)
    }
}

/// A strategy that asks for as many queries as one likes, and the header of its searches.
pub fn evolution<T>(act: impl FnOnce(&mut dyn Strategy, Header) -> T) -> T {
    let config = StrategyConfig::Evolution(EvolutionConfig { population: 20, tournament: 5 });
    let header = Header::new(config.name(), 7, serde_json::to_value(&config).unwrap());
    with_strategy(&config, &chains(1, 1), 7, |strategy| act(strategy, header))
}

/// The search that nobody disturbs.
pub fn calm(budget: usize, batch: usize) -> Journal {
    evolution(|strategy, header| {
        let mut memory = Journal::in_memory(header);
        run(strategy, &Fragile, &mut memory, budget, batch, &mut |_| {}).unwrap();
        memory
    })
}

fn worker(name: &str) -> Worker {
    Worker { look: Duration::from_millis(5), ..Worker::new(name) }
}

#[test]
fn a_lonely_worker_leaves_the_trace_of_any_search() {
    let calm = calm(25, 4);
    let mut n_steps = 0;
    let shared = evolution(|strategy, header| {
        let mut memory = Journal::in_memory(header);
        let step = &mut |_: pace_search::Step<'_>| n_steps += 1;
        run_shared(strategy, &Fragile, &mut memory, (25, 4), &worker("a"), step).unwrap();
        memory
    });
    assert_eq!((shared.history(), n_steps), (calm.history(), 25));
    assert!(
        evolution(|strategy, header| {
            let mut memory = Journal::in_memory(header);
            run_shared(strategy, &Fragile, &mut memory, (25, 0), &worker("a"), &mut |_| {})
        })
        .is_err()
    );
}

#[test]
fn a_claim_is_renewed_as_long_as_the_work_takes() {
    /// Counts renewals, and ends the claim after some.
    struct Counting(Journal, usize, usize);

    impl Study for Counting {
        fn header(&self) -> &Header {
            self.0.header()
        }
        fn history(&self) -> &pace_search::History {
            self.0.history()
        }
        fn poll(&mut self) -> Result<bool, Error> {
            self.0.poll()
        }
        fn ask(&mut self, candidates: Vec<pace_search::Candidate>) -> Result<bool, Error> {
            Study::ask(&mut self.0, candidates)
        }
        fn tell(
            &mut self,
            answers: &[(usize, pace_search::Outcome)],
        ) -> Result<Vec<(usize, pace_search::Outcome)>, Error> {
            self.0.tell(answers)
        }
        fn claim(&mut self, worker: &str, _: Duration) -> Result<Option<Claim>, Error> {
            self.0.claim(worker)
        }
        fn renew(&mut self, _: &Claim, _: Duration) -> Result<bool, Error> {
            self.1 += 1;
            Ok(self.1 < self.2)
        }
        fn release(&mut self, claim: &Claim) -> Result<(), Error> {
            Study::release(&mut self.0, claim)
        }
    }

    for ends_after in [3, usize::MAX] {
        let mut study = Counting(Journal::in_memory(header()), 0, ends_after);
        study.ask(vec![candidate(2)]).unwrap();
        let claim = study.claim("a", Duration::ZERO).unwrap().unwrap();
        let (study, n_looks) = (Mutex::new(study), AtomicUsize::new(0));
        // Works until there were enough renewals, or for good if they have ended.
        let result = keep(&study, &claim, Duration::from_millis(3), || {
            while study.lock().unwrap().1 < 3 || n_looks.fetch_add(1, Ordering::Relaxed) < 50 {
                std::thread::sleep(Duration::from_millis(1));
            }
            17
        });
        let renewed = study.lock().unwrap().1;
        assert!(result == 17 && if ends_after == 3 { renewed == 3 } else { renewed >= 3 }, "{renewed}");
    }
}

/// Not a test by itself: as another process it answers a journal.
#[test]
fn answers_for_another_test() {
    let Some(path) = std::env::var_os(VARIABLE) else { return };
    let mut journal = Journal::join(Path::new(&path)).unwrap();
    answer(&Slow(Duration::from_millis(10)), &mut journal, BUDGET, &worker("helper"), &mut |_| {}).unwrap();
}

#[test]
fn processes_share_a_journal_and_one_is_killed() {
    let folder = TempDir::new().unwrap();
    let path: PathBuf = folder.path().join("search.jsonl");
    evolution(|strategy, header| {
        let mut journal = Journal::open(&path, header).unwrap();
        let helper = || -> Child {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "study_share::answers_for_another_test"])
                .env(VARIABLE, &path)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut helpers = [helper(), helper()];
        let mut n_steps = 0;
        let step = &mut |_: pace_search::Step<'_>| {
            n_steps += 1;
            if n_steps == 5 {
                helpers[0].kill().unwrap();
            }
        };
        let oracle = Slow(Duration::from_millis(10));
        run_shared(strategy, &oracle, &mut journal, (BUDGET, 6), &worker("asker"), step).unwrap();
        helpers[0].wait().unwrap();
        assert!(helpers[1].wait().unwrap().success());
        assert_eq!(journal.history(), calm(BUDGET, 6).history());
    });
}
