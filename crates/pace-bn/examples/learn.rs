//! Scratch.
use std::time::Instant;
use pace_bn::*;
use rand::SeedableRng;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let t = Instant::now();
    let (table, truth) = if args[1].ends_with(".csv") {
        (read_csv(std::fs::File::open(&args[1]).unwrap(), &args[1], &CsvOptions::default()).unwrap(), None)
    } else {
        let net = parse_bif(&std::fs::read_to_string(&args[1]).unwrap(), &args[1]).unwrap();
        let n: usize = args[2].parse().unwrap();
        let s = net.sample(n, &mut rng);
        let order: Vec<usize> = (0..net.n_variables()).collect();
        let csv = s.csv(&order);
        (read_csv(csv.as_bytes(), "sample", &CsvOptions::default()).unwrap(), Some(net.structure().clone()))
    };
    let k: Option<usize> = args.get(3).and_then(|k| k.parse().ok());
    println!("table {} x {} distinct {} in {:?}", table.n_rows(), table.n_variables(), table.n_distinct(), t.elapsed());
    let scorer = Scorer::new(&table, "bic".parse().unwrap()).unwrap();
    if let Some(truth) = &truth { println!("truth {:.6} arcs {}", scorer.structure(truth).nats(), truth.n_arcs()); }
    let t = Instant::now();
    let found = climb(&scorer, &Structure::empty(table.n_variables()), &ClimbConfig { max_parents: k, ..Default::default() }, &Limits::default());
    println!("hill {:.6} in {:?} families {}", found.score.nats(), t.elapsed(), scorer.n_families());
    let t = Instant::now();
    let tabu = climb(&scorer, &Structure::empty(table.n_variables()), &ClimbConfig { max_parents: k, ..ClimbConfig::tabu() }, &Limits::default());
    println!("tabu {:.6} in {:?}", tabu.score.nats(), t.elapsed());
    let t = Instant::now();
    let c = Candidates::all(&scorer, &CandidateConfig { max_parents: k, ..Default::default() }).unwrap();
    println!("candidates {} relaxed {:.6} in {:?}", c.n_families(), c.relaxed().nats(), t.elapsed());
    let t = Instant::now();
    let f = search_orders(&c, None, &OrderConfig::default(), &Limits::default());
    println!("orders {:.6} n {} in {:?}", f.score.nats(), f.n_structures, t.elapsed());
    let t = Instant::now();
    let cert = certify(&c, Some(&tabu.structure), &ExactConfig::default(), &Limits::default()).unwrap();
    println!("exact {:.6} upper {:.6} nodes {} cuts {} comps {:?} in {:?}", cert.score.nats(), cert.upper_bound, cert.n_nodes, cert.n_cuts, cert.components, t.elapsed());
    if let Some(truth) = &truth { println!("shd {}", shd(&Cpdag::of(truth), &Cpdag::of(&cert.structure))); }
}
