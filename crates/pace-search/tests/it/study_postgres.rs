//! Studies in a database, on a real server.

use std::path::PathBuf;
use std::time::Duration;

use pace_search::study::postgres::Address;
use pace_search::{Error, Header, Outcome, PostgresStudy, Study};
use serde_json::json;

use crate::postgres_server::Server;
use crate::study_laws::{Place, candidate, check, header};

const LEASE: Duration = Duration::from_secs(600);

impl Place for &Server {
    fn open(&self, name: &str, header: Header) -> Result<Box<dyn Study>, Error> {
        Ok(Box::new(PostgresStudy::open(self.address(name), header)?))
    }

    fn join(&self, name: &str) -> Result<Box<dyn Study>, Error> {
        Ok(Box::new(PostgresStudy::join(self.address(name))?))
    }
}

#[test]
fn databases_obey_the_laws() {
    let Some(server) = Server::shared() else { return };
    check(&server);
}

#[test]
fn of_two_that_ask_one_succeeds_and_both_know_what() {
    let Some(server) = Server::shared() else { return };
    let open = || PostgresStudy::open(server.address("askers"), header()).unwrap();
    let (mut a, mut b) = (open(), open());
    assert!(a.ask(vec![candidate(2), candidate(3)]).unwrap());
    assert!(!b.ask(vec![candidate(4)]).unwrap());
    assert_eq!(a.history(), b.history());
    assert!(b.ask(vec![candidate(4)]).unwrap() && !a.ask(vec![candidate(4)]).unwrap());
    assert_eq!((a.history(), a.history().n_asked()), (b.history(), 3));
    // All at once: each round is asked by one of them.
    let n_rounds: usize = std::thread::scope(|scope| {
        let asker = |_| {
            scope.spawn(|| {
                let mut study = open();
                (0..10).filter(|op| study.ask(vec![candidate(10 + op)]).unwrap()).count()
            })
        };
        let askers: Vec<_> = (0..4).map(asker).collect();
        askers.into_iter().map(|asker| asker.join().unwrap()).sum()
    });
    a.poll().unwrap();
    assert_eq!((a.history().n_rounds(), a.history().n_asked()), (2 + n_rounds, 3 + n_rounds));
    assert!(n_rounds >= 10);
}

#[test]
fn a_claim_ends_with_its_lease_and_not_before() {
    let Some(server) = Server::shared() else { return };
    let mut study = PostgresStudy::open(server.address("lease"), header()).unwrap();
    let mut other = PostgresStudy::join(server.address("lease")).unwrap();
    study.ask(vec![candidate(2)]).unwrap();
    let dead = study.claim("dead", Duration::from_millis(50)).unwrap().unwrap();
    let next = loop {
        if let Some(claim) = other.claim("next", LEASE).unwrap() {
            break claim;
        }
    };
    // It was not dead after all, but it has lost the query; its answer counts all the same if it is the first one.
    assert!(next.id == 0 && !study.renew(&dead, LEASE).unwrap() && other.renew(&next, LEASE).unwrap());
    study.release(&dead).unwrap();
    assert_eq!(study.claim("a third", LEASE).unwrap(), None);
    assert_eq!(study.tell(&[(0, Outcome::of(1.0))]).unwrap(), []);
    assert!(!other.renew(&next, LEASE).unwrap());
    assert_eq!(other.tell(&[(0, Outcome::of(2.0))]).unwrap(), [(0, Outcome::of(2.0))]);
    // A lease that ended while nobody wanted the query can still be renewed.
    study.ask(vec![candidate(3)]).unwrap();
    let slow = study.claim("slow", Duration::ZERO).unwrap().unwrap();
    assert!(study.renew(&slow, Duration::MAX).unwrap());
    assert_eq!(other.claim("next", LEASE).unwrap(), None);
}

#[test]
fn many_claim_at_once_and_each_gets_another_query() {
    let Some(server) = Server::shared() else { return };
    let mut study = PostgresStudy::open(server.address("queue"), header()).unwrap();
    study.ask((2..102).map(candidate).collect()).unwrap();
    let mut ids: Vec<usize> = std::thread::scope(|scope| {
        let worker = |_| {
            scope.spawn(|| {
                let mut study = PostgresStudy::join(server.address("queue")).unwrap();
                let claims = std::iter::from_fn(|| study.claim("worker", LEASE).unwrap());
                claims.map(|claim| claim.id).collect::<Vec<_>>()
            })
        };
        let workers: Vec<_> = (0..4).map(worker).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
}

#[test]
fn any_program_may_answer_and_what_it_breaks_is_named() {
    let Some(server) = Server::shared() else { return };
    let mut study = PostgresStudy::open(server.address("by%20hand"), header()).unwrap();
    study.ask((2..8).map(candidate).collect()).unwrap();
    let mut client = server.client();
    let answer = "insert into pace.answers (study, id, score, failed) \
                  select study, $1::bigint, $2::double precision, $3::text from pace.studies where name = 'by hand'";
    let (no_score, no_reason) = (None::<f64>, None::<&str>);
    client.execute(answer, &[&0_i64, &Some(0.5), &no_reason]).unwrap();
    client.execute(answer, &[&1_i64, &Some(f64::NAN), &no_reason]).unwrap();
    client.execute(answer, &[&2_i64, &no_score, &Some("no memory")]).unwrap();
    assert!(client.execute(answer, &[&0_i64, &Some(0.7), &no_reason]).is_err(), "the first one holds");
    assert!(client.execute(answer, &[&9_i64, &Some(0.7), &no_reason]).is_err(), "it was never asked");
    assert!(client.execute(answer, &[&3_i64, &no_score, &no_reason]).is_err(), "it is no answer");
    assert!(study.poll().unwrap());
    let outcomes: Vec<Option<Outcome>> = study.history().entries().iter().map(|entry| entry.outcome.clone()).collect();
    let failed = |reason: &str| Some(Outcome::Failed(reason.to_owned()));
    assert_eq!(outcomes[..3], [Some(Outcome::Score(0.5)), failed("the score is NaN"), failed("no memory")]);
    assert_eq!(study.claim("worker", LEASE).unwrap().unwrap().id, 3);
    // NUL is no text for PostgreSQL.
    assert_eq!(study.tell(&[(3, Outcome::Failed("a\0b".to_owned()))]).unwrap(), []);
    assert_eq!(study.history().entries()[3].outcome, failed("a␀b"));
    assert_eq!(study.tell(&[(3, Outcome::Failed("a\0b".to_owned()))]).unwrap(), []);
    // Rows that somebody broke.
    let row = "(select study from pace.studies where name = 'by hand') and id = 5";
    for (broken, wanted) in [
        ("graph = '0 0 : 0>1 1>0'", "the graph cannot be read"),
        ("origin = 'luck'", "unknown variant"),
        ("vector = '{1,null}'", "the vector cannot be read"),
        ("place = -1", "place is -1"),
        ("round = 7", "it is of round 7"),
    ] {
        client.batch_execute(&format!("update pace.queries set {broken} where study = {row}")).unwrap();
        let error = PostgresStudy::join(server.address("by%20hand")).unwrap_err().to_string();
        assert!(error.contains("query 5: ") && error.contains(wanted), "{error}");
        let mended = "graph = '0 1 : 0>1', origin = 'random', vector = null, place = null, round = 0";
        client.batch_execute(&format!("update pace.queries set {mended} where study = {row}")).unwrap();
    }
    assert!(PostgresStudy::join(server.address("by%20hand")).is_ok());
}

#[test]
fn studies_are_apart_named_and_removed() {
    let Some(server) = Server::shared() else { return };
    let mut a = PostgresStudy::open(server.address("apart-a"), header()).unwrap();
    let mut b = PostgresStudy::open(server.address("apart-b"), header()).unwrap();
    a.ask(vec![candidate(2)]).unwrap();
    assert!(!b.poll().unwrap() && b.history().n_asked() == 0);
    assert_eq!(b.about().unwrap(), None);
    a.set_about(&json!({"queries": 5})).unwrap();
    assert_eq!(PostgresStudy::join(server.address("apart-a")).unwrap().about().unwrap(), Some(json!({"queries": 5})));
    let error = PostgresStudy::join(server.address("nobody's")).unwrap_err().to_string();
    assert!(error.contains("no such study") && error.contains("'apart-"), "{error}");
    assert!(PostgresStudy::remove(server.address("apart-a")).unwrap());
    assert!(!PostgresStudy::remove(server.address("apart-a")).unwrap());
    // Whoever still works on it is told, whatever it does.
    let claim = b.ask(vec![candidate(2)]).and_then(|_| b.claim("b", LEASE)).unwrap().unwrap();
    let failures = [
        a.poll().err(),
        a.ask(vec![candidate(3)]).err(),
        a.tell(&[(0, Outcome::of(1.0))]).err(),
        a.claim("a", LEASE).err(),
        a.about().err(),
        a.set_about(&json!(null)).err(),
    ];
    for error in failures {
        assert!(error.unwrap().to_string().contains("somebody removed"));
    }
    assert!(b.renew(&claim, LEASE).unwrap());
}

#[test]
fn tables_of_any_older_version_are_brought_up_to_date() {
    let Some(server) = Server::shared() else { return };
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "src/study/postgres/migrations"].iter().collect();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let within = |database: &str| {
        let url = server.url("old").replace("/postgres?", &format!("/{database}?"));
        (Address::parse(&url).unwrap(), url.replace("&study=old", "").parse::<postgres::Config>().unwrap())
    };
    for version in 1..files.len() {
        let name = format!("version_{version}");
        server.database(&name);
        let (address, config) = within(&name);
        let mut client = config.connect(postgres::NoTls).unwrap();
        for (index, file) in files[..version].iter().enumerate() {
            client.batch_execute(&std::fs::read_to_string(file).unwrap()).unwrap();
            client.execute("insert into pace.migrations (version) values ($1)", &[&(index as i32 + 1)]).unwrap();
        }
        // What stands in the oldest tables is still there afterwards.
        let text = serde_json::to_string(&header()).unwrap();
        client.execute("insert into pace.studies (name, header) values ('old', $1)", &[&text]).unwrap();
        let queries = "insert into pace.queries (study, id, round, origin, graph, token) \
                       select study, id, 0, 'random', '0 1 : 0>1', '' from pace.studies, generate_series(0, 1) as id";
        client.batch_execute(queries).unwrap();
        client
            .batch_execute("insert into pace.answers (study, id, score) select study, 0, 0.5 from pace.studies")
            .unwrap();
        let mut study = PostgresStudy::join(address).unwrap();
        assert_eq!((study.history().n_asked(), study.history().n_answered()), (2, 1));
        assert_eq!(study.claim("worker", LEASE).unwrap().unwrap().id, 1);
    }
    // From nothing, by several processes at once; and once more.
    server.database("fresh");
    let (address, config) = within("fresh");
    for _ in 0..2 {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| PostgresStudy::open(address.clone(), header()).unwrap());
            }
        });
    }
    let mut client = config.connect(postgres::NoTls).unwrap();
    let versions = client.query("select version from pace.migrations order by version", &[]).unwrap();
    let versions: Vec<i32> = versions.iter().map(|row| row.get(0)).collect();
    assert_eq!(versions, (1..=files.len() as i32).collect::<Vec<_>>());
    // A newer program was here.
    client.batch_execute("insert into pace.migrations (version) values (99)").unwrap();
    let error = PostgresStudy::open(address, header()).unwrap_err();
    assert!(matches!(error, Error::NewerTables { found: 99, .. }) && error.to_string().contains("take a newer one"));
}

#[test]
fn an_address_that_leads_nowhere_is_an_error() {
    let Some(server) = Server::shared() else { return };
    for (from, to, wanted) in [("/postgres?", "/no_such?", "does not exist"), ("pace@", "who@", "does not exist")] {
        let error = PostgresStudy::join(Address::parse(&server.url("x").replace(from, to)).unwrap()).unwrap_err();
        assert!(error.to_string().contains(wanted) && matches!(error, Error::Database { .. }), "{error}");
    }
}
