//! Workers that are killed, a server that restarts, and commits whose acknowledgement is lost: nothing is lost or counted twice.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pace_graph::Dag;
use pace_search::oracle::Oracle;
use pace_search::study::postgres::Address;
use pace_search::{Error, Journal, Outcome, PostgresStudy, Study, Worker, copy, run_shared};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::postgres_server::Server;
use crate::search_sample::Fragile;
use crate::study_laws::{candidate, header};
use crate::study_share::{calm, evolution};

const LEASE: Duration = Duration::from_secs(600);

/// A way to the server on which acknowledgements of commits are lost: the server has committed, the client never hears of it.
struct Lossy {
    folder: TempDir,
    /// Twice the number of commits that are still to be lost. Every second one passes, so that repetitions succeed.
    left: Arc<AtomicUsize>,
}

impl Lossy {
    fn to(server: &Server) -> Lossy {
        let (folder, left) = (TempDir::new().unwrap(), Arc::new(AtomicUsize::new(0)));
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let (target, lost) = (server.socket(), Arc::clone(&left));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (target, lost) = (target.clone(), Arc::clone(&lost));
                std::thread::spawn(move || pass(client, &target, &lost));
            }
        });
        Lossy { folder, left }
    }

    fn address(&self, study: &str) -> Address {
        let host = self.folder.path().display();
        Address::parse(&format!("postgres://pace@/postgres?host={host}&study={study}")).unwrap()
    }

    /// Loses the acknowledgement of each of the next `n` transactions, once.
    fn losing<T>(&self, n: usize, act: impl FnOnce() -> T) -> T {
        self.left.store(2 * n, Ordering::SeqCst);
        let result = act();
        assert_eq!(self.left.load(Ordering::SeqCst), 0, "{n} transactions were made twice");
        result
    }
}

/// Passes bytes on, until a commit of which the client shall not hear.
fn pass(mut client: UnixStream, target: &Path, left: &AtomicUsize) -> Option<()> {
    let mut server = UnixStream::connect(target).ok()?;
    let (mut to_client, mut from_server) = (client.try_clone().ok()?, server.try_clone().ok()?);
    let is_cut = Arc::new(AtomicUsize::new(0));
    let cut = Arc::clone(&is_cut);
    let back = std::thread::spawn(move || {
        let mut bytes = [0; 1 << 14];
        while let Ok(n @ 1..) = from_server.read(&mut bytes) {
            // The first answer after the commit means that it is done.
            if cut.load(Ordering::SeqCst) > 0 || to_client.write_all(&bytes[..n]).is_err() {
                break;
            }
        }
        to_client.shutdown(std::net::Shutdown::Both).ok();
        from_server.shutdown(std::net::Shutdown::Both).ok();
    });
    let mut bytes = [0; 1 << 14];
    while let Ok(n @ 1..) = client.read(&mut bytes) {
        if bytes[..n].windows(6).any(|word| word == b"COMMIT") {
            let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            is_cut.store(before.map_or(0, |left| 1 - left % 2), Ordering::SeqCst);
        }
        if server.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    server.shutdown(std::net::Shutdown::Both).ok();
    back.join().ok()
}

#[test]
fn a_commit_of_which_nobody_heard_counts_once() {
    let Some(server) = Server::shared() else { return };
    let lossy = Lossy::to(server);
    let mut study = PostgresStudy::open(lossy.address("lossy"), header()).unwrap();
    let mut witness = PostgresStudy::join(server.address("lossy")).unwrap();
    // How many transactions an operation takes, reads included.
    let [ask, claim_one, renew, release, tell] = [2, 3, 1, 1, 2];
    for round in 0..4 {
        let first = 3 * round;
        let candidates = (0..3).map(|op| candidate(10 + first + op)).collect();
        assert!(lossy.losing(ask, || study.ask(candidates)).unwrap(), "it is ours");
        let claim = lossy.losing(claim_one, || study.claim("a", LEASE)).unwrap().unwrap();
        assert_eq!(claim.id, first);
        let second = study.claim("a", LEASE).unwrap().unwrap();
        assert_eq!(second.id, first + 1, "a repeated claim is one claim");
        assert!(lossy.losing(renew, || study.renew(&claim, LEASE)).unwrap());
        let answers = [(first, Outcome::of(0.5)), (first + 2, Outcome::Failed("no\0thing".to_owned()))];
        assert_eq!(lossy.losing(tell, || study.tell(&answers)).unwrap(), [], "a repeated answer is not late");
        lossy.losing(release, || study.release(&second)).unwrap();
        let again = study.claim("a", LEASE).unwrap().unwrap();
        assert_eq!(again.id, first + 1);
        assert_eq!(study.tell(&[(again.id, Outcome::of(1.5))]).unwrap(), []);
        witness.poll().unwrap();
        assert_eq!(witness.history(), study.history());
        assert_eq!((witness.history().n_asked(), witness.history().n_answered()), (first + 3, first + 3));
    }
}

const N_QUERIES: usize = 500;
const BATCH: usize = 12;
const N_WORKERS: usize = 4;
const N_KILLS: usize = 30;
/// Name the server, and the file in which a worker writes what it evaluates, for a copy of this test binary.
const VARIABLES: [&str; 2] = ["PACE_TEST_STUDY", "PACE_TEST_EVALUATED"];

/// Writes down every graph before and after it is evaluated, which takes a while.
struct Noted(std::fs::File);

impl Oracle for Noted {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        let note = |what: &str| (&self.0).write_all(format!("{what} {}\n", dags[0]).as_bytes()).unwrap();
        note("begin");
        std::thread::sleep(Duration::from_millis(25));
        note("end");
        Fragile.evaluate(dags)
    }
}

/// Not a test by itself: as another process it works on a study until its budget is spent.
#[test]
fn works_for_another_test() {
    let [Some(url), Some(notes)] = VARIABLES.map(std::env::var_os) else { return };
    let oracle = Noted(std::fs::File::options().append(true).open(notes).unwrap());
    let worker = Worker {
        lease: Duration::from_secs(1),
        look: Duration::from_millis(10),
        ..Worker::new(&format!("process {}", std::process::id()))
    };
    evolution(|strategy, header| {
        let address = Address::parse(url.to_str().unwrap()).unwrap();
        let mut study = PostgresStudy::open(address, header).unwrap();
        run_shared(strategy, &oracle, &mut study, (N_QUERIES, BATCH), &worker, &mut |_| {}).unwrap();
    });
}

fn worker(server: &Server, notes: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "study_crashes::works_for_another_test"])
        .envs([(VARIABLES[0], server.url("crashes").as_ref()), (VARIABLES[1], notes.as_os_str())])
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_workers_and_a_restarted_server_leave_the_trace_of_a_calm_search() {
    let Some(mut server) = Server::start() else { return };
    let folder = TempDir::new().unwrap();
    let notes = folder.path().join("evaluated");
    std::fs::write(&notes, "").unwrap();
    let start = Instant::now();
    let mut workers: Vec<Child> = (0..N_WORKERS).map(|_| worker(&server, &notes)).collect();
    let (mut rng, mut n_kills) = (ChaCha8Rng::seed_from_u64(1), 0);
    let n_answered = |server: &Server| -> usize {
        let joined = PostgresStudy::join(server.address("crashes"));
        joined.map_or(0, |study| study.history().n_answered())
    };
    let mut has_restarted = false;
    while n_answered(&server) < N_QUERIES {
        std::thread::sleep(Duration::from_millis(rng.random_range(50..250)));
        if n_kills < N_KILLS {
            let victim = &mut workers[rng.random_range(0..N_WORKERS)];
            // By SIGKILL, in the middle of whatever it does.
            victim.kill().unwrap();
            victim.wait().unwrap();
            *victim = worker(&server, &notes);
            n_kills += 1;
        }
        if !has_restarted && n_answered(&server) >= N_QUERIES / 3 {
            server.stop();
            std::thread::sleep(Duration::from_millis(300));
            server.run();
            has_restarted = true;
        }
    }
    for mut worker in workers {
        assert!(worker.wait().unwrap().success(), "a worker that nobody killed ends well");
    }
    let seconds = start.elapsed().as_secs_f64();
    assert!(has_restarted);
    let study = PostgresStudy::join(server.address("crashes")).unwrap();
    let history = study.history();
    // Nothing is lost, nothing is asked twice, and the answers are those of a search that nobody disturbed.
    let calm = calm(N_QUERIES, BATCH);
    let keys: HashSet<_> = history.entries().iter().map(|entry| entry.candidate.key()).collect();
    assert_eq!((history.n_asked(), history.n_answered(), keys.len()), (N_QUERIES, N_QUERIES, N_QUERIES));
    assert_eq!(history.trace(), calm.history().trace());
    assert_eq!(history, calm.history());
    // As a file it is the journal of that search.
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::open(&path, study.header().clone()).unwrap();
    copy(history, &mut journal).unwrap();
    drop(journal);
    assert_eq!(Journal::join(&path).unwrap().history(), calm.history());
    // Every query was evaluated; again only after a kill, or while the server was away for longer than a lease.
    let text = std::fs::read_to_string(&notes).unwrap();
    let mut times: HashMap<&str, usize> = HashMap::new();
    text.lines().filter_map(|line| line.strip_prefix("end ")).for_each(|graph| *times.entry(graph).or_default() += 1);
    assert_eq!(times.len(), N_QUERIES);
    let n_begun = text.lines().filter(|line| line.starts_with("begin ")).count();
    eprintln!(
        "{N_QUERIES} queries by {N_WORKERS} workers in {seconds:.1} s: {n_kills} kills, 1 restart, {} evaluations begun anew",
        n_begun - N_QUERIES
    );
}
