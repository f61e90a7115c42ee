//! Networks: fitted, sampled, written, read and drawn.

use pace_bn::{
    BootstrapConfig, Comparison, JsonNetwork, RandomNetwork, ScoreKind, Strengths, Structure, fit, parse_bif,
    write_bif, write_dot, write_graphml,
};

use crate::support::{network, read, rng, sampled};

const SPRINKLER: &str = "// A comment.
network \"wet grass\" { property author = someone; }
variable rain { type discrete [ 2 ] { yes, no }; }
variable grass { type discrete [ 3 ] { <5, 5-12, \"12 +\" }; property position = (1, 2) ; }
variable sprinkler { type discrete[2]{ on off }; }
probability ( rain ) { table 0.2, 0.8; }
/* Another. */
probability ( sprinkler | rain ) { (no) 0.4 0.6; default 0.01, 0.99; }
probability ( grass | sprinkler, rain ) {
  (on, yes) 0.1, 0.2, 0.7;
  (on, no) 0.2, 0.3, 0.5;
  (off, yes) 0.3, 0.3, 0.4;
  (off, no) 1.0, 0.0, 0.0;
}
";

#[test]
fn bif_is_read_with_its_probabilities() {
    let network = parse_bif(SPRINKLER, "my.bif").unwrap();
    assert_eq!(
        (network.name(), network.names()),
        ("wet grass", &["grass".into(), "rain".into(), "sprinkler".into()][..])
    );
    assert_eq!(network.levels(0), ["<5", "5-12", "12 +"]);
    assert_eq!(network.structure().parents(0), [1, 2]);
    // Parents are sorted now: rain, then sprinkler.
    let rows: Vec<&[f64]> = network.cpt(0).rows().collect();
    assert_eq!(rows, [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]);
    assert_eq!((network.cpt(2).row(0), network.cpt(2).row(1)), (&[0.01, 0.99][..], &[0.4, 0.6][..]));
    assert_eq!(network.n_parameters(), 8 + 1 + 2);
}

#[test]
fn a_table_with_parents_changes_the_child_slowest() {
    let text =
        "network f { } variable light { type discrete [2] { on, off }; } variable out { type discrete [2] { t, f }; }
                probability ( out ) { table 0.15, 0.85; } probability ( light | out ) { table 0.6, 0.05, 0.4, 0.95; }";
    let network = parse_bif(text, "my.bif").unwrap();
    assert_eq!((network.cpt(0).row(0), network.cpt(0).row(1)), (&[0.6, 0.4][..], &[0.05, 0.95][..]));
}

#[test]
fn bif_round_trips_to_the_last_bit() {
    for seed in 0..20 {
        let network = network(1 + seed as usize, seed);
        assert_eq!(parse_bif(&write_bif(&network), "my.bif").unwrap(), network);
    }
    let network = parse_bif(SPRINKLER, "my.bif").unwrap();
    assert_eq!(parse_bif(&write_bif(&network), "my.bif").unwrap(), network);
}

#[test]
fn broken_bif_says_where_and_what() {
    let cases = [
        ("", "line 1: no variables; a network has at least one"),
        ("network x {\n", "line 2: the file ends in the middle of a block; it is cut off"),
        ("nonsense", "line 1: 'nonsense' where 'variable' or 'probability' should begin a block"),
        ("variable a { }", "line 1: variable 'a' has no type; list its levels"),
        ("variable a { type continuous; }", "line 1: variable 'a' is continuous; only discrete variables can be read"),
        ("variable a { type discrete [ 3 ] { x, y }; }", "line 1: variable 'a' has 2 levels where it says 3"),
        ("variable a { type discrete [ 2 ] { x, x }; }", "line 1: level 'x' of 'a' stands here twice; rename one"),
        ("probability ( a ) { }", "line 1: 'a' is no variable; declare it before its probabilities"),
        ("\"a", "line 1: the text in quotes has no end; close it with '\"'"),
        ("/* a", "line 1: the comment has no end; close it with '*/'"),
    ];
    for (text, wanted) in cases {
        assert_eq!(parse_bif(text, "my.bif").unwrap_err().to_string(), format!("my.bif: {wanted}"));
    }
    let replaced = [
        ("(on, yes)", "(on)", "1 levels where there are 2 parents; give one of each"),
        ("(on, yes)", "(on, maybe)", "'rain' has no level 'maybe'; it has yes, no"),
        ("(on, yes)", "(on, no)", "two lines of 'grass' are about the same levels; take one away"),
        ("(on, yes) 0.1, 0.2, 0.7;", "", "'grass' has 9 probabilities where 12 are needed; add the rest"),
        ("0.1, 0.2, 0.7", "0.1, 0.9", "'grass' has 11 probabilities where 12 are needed; add the rest"),
        ("0.1, 0.2, 0.7", "0.1, x, 0.7", "'x' where a probability should stand"),
        ("0.1, 0.2, 0.7", "0.1, 0.2, 0.1", "numbers from 0 to 1 that sum to 1"),
        ("0.1, 0.2, 0.7", "-0.1, 0.2, 0.9", "numbers from 0 to 1 that sum to 1"),
        ("0.1, 0.2, 0.7", "NaN, 0.2, 0.9", "numbers from 0 to 1 that sum to 1"),
        ("( rain )", "( rain | grass )", "form a cycle"),
        ("( rain )", "( rain | rain )", "'rain' stands here twice; take one away"),
        ("probability ( rain ) { table 0.2, 0.8; }", "", "'rain' has no probabilities; add a block"),
    ];
    for (old, new, wanted) in replaced {
        assert!(SPRINKLER.contains(old), "{old}");
        let message = parse_bif(&SPRINKLER.replacen(old, new, 1), "my.bif").unwrap_err().to_string();
        let is_cycle = new.contains("| grass") && message.contains("probabilities where");
        assert!(message.contains(wanted) || is_cycle, "{old} -> {new}: {message}");
    }
}

#[test]
fn garbled_bif_never_panics() {
    use rand::RngExt;
    let mut rng = rng(8);
    for _ in 0..2000 {
        let mut bytes = SPRINKLER.as_bytes().to_vec();
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..3) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = b"{}()[]|;,\"\\ 0x/"[rng.random_range(0..15_usize)],
                _ => drop(bytes.remove(at)),
            }
            bytes.resize(bytes.len().max(1), b' ');
        }
        if let Ok(text) = String::from_utf8(bytes)
            && let Ok(network) = parse_bif(&text, "my.bif")
        {
            assert_eq!(parse_bif(&write_bif(&network), "again").unwrap(), network);
        }
    }
    let bomb: String = (0..60).map(|at| format!("variable v{at:02} {{ type discrete [2] {{ a, b }}; }} ")).collect();
    let parents: Vec<String> = (1..60).map(|at| format!("v{at:02}")).collect();
    let text = format!("{bomb} probability ( v00 | {} ) {{ default 0.5, 0.5; }}", parents.join(", "));
    let message = parse_bif(&text, "my.bif").unwrap_err().to_string();
    assert!(message.contains("has no probabilities") || message.contains("cannot be read"), "{message}");
}

#[test]
fn samples_follow_the_network_and_the_seed() {
    let network = network(6, 12);
    let sample = network.sample(40_000, &mut rng(1));
    assert_eq!(sample, network.sample(40_000, &mut rng(1)));
    assert_ne!(sample, network.sample(40_000, &mut rng(2)));
    let fitted = fit(&sample.table().unwrap(), network.structure(), 0.0).unwrap();
    for variable in 0..6 {
        if network.structure().parents(variable as u16).is_empty() {
            for (found, wanted) in fitted.cpt(variable).row(0).iter().zip(network.cpt(variable).row(0)) {
                assert!((found - wanted).abs() < 0.01, "{found} for {wanted}");
            }
        }
    }
}

#[test]
fn probabilities_are_shares_and_pseudo_counts_smooth_them() {
    let table = read("a,b\n0,0\n0,0\n0,1\n1,1\n").unwrap();
    let structure = Structure::from_arcs(table.names(), [("a", "b")]).unwrap();
    let network = fit(&table, &structure, 0.0).unwrap();
    assert_eq!(
        (network.cpt(0).row(0), network.cpt(1).row(0), network.cpt(1).row(1)),
        (&[0.75, 0.25][..], &[2.0 / 3.0, 1.0 / 3.0][..], &[0.0, 1.0][..])
    );
    let smooth = fit(&table, &structure, 1.0).unwrap();
    assert_eq!(smooth.cpt(1).row(1), [1.0 / 3.0, 2.0 / 3.0]);
    assert!(fit(&table, &structure, -1.0).is_err() && fit(&table, &Structure::empty(3), 0.0).is_err());
    let both = Structure::from_arcs(table.names(), [("b", "a")]).unwrap();
    let comparison = Comparison::of(&fit(&table, &both, 0.0).unwrap(), &network).unwrap();
    assert_eq!((comparison.shd, comparison.shd_dags, comparison.pairs.found), (0, 1, 1));
}

#[test]
fn random_networks_keep_their_limits() {
    let random = RandomNetwork { n_variables: 40, max_levels: 4, max_parents: 2, concentration: 0.3 };
    let network = random.draw(&mut rng(5)).unwrap();
    assert_eq!(network, random.draw(&mut rng(5)).unwrap());
    assert!((0..40).all(|variable| network.structure().parents(variable as u16).len() <= 2));
    assert!((0..40).all(|variable| (2..=4).contains(&network.levels(variable).len())));
    let wrong = RandomNetwork { concentration: 0.0, ..random };
    assert!(wrong.draw(&mut rng(5)).unwrap_err().to_string().contains("give a number above 0"));
}

#[test]
fn strengths_do_not_depend_on_threads_and_see_what_is_there() {
    let table = sampled(6, 3000, 2);
    let config = BootstrapConfig { replicates: 20, seed: 4, ..BootstrapConfig::default() };
    let strengths = Strengths::bootstrap(&table, ScoreKind::Bic, &config).unwrap();
    assert_eq!(strengths, Strengths::bootstrap(&table, ScoreKind::Bic, &config).unwrap());
    for a in 0..6 {
        for b in (0..6).filter(|&b| b != a) {
            assert!((0.0..=1.0).contains(&strengths.strength(a, b)));
            assert_eq!(strengths.strength(a, b), strengths.strength(b, a));
            let both = strengths.direction(a, b) + strengths.direction(b, a);
            assert!(both == 0.0 || (both - 1.0).abs() < 1e-12);
        }
    }
    let copy = read("a,b,c\n0,0,0\n1,1,0\n0,0,1\n1,1,1\n0,0,0\n1,1,1\n0,0,1\n1,1,0\n").unwrap();
    let sure = Strengths::bootstrap(&copy, ScoreKind::Bic, &config).unwrap();
    assert!(sure.strength(0, 1) > 0.7 && sure.strength(0, 2) < 0.5);
    let none = BootstrapConfig { replicates: 0, ..config };
    assert!(Strengths::bootstrap(&copy, ScoreKind::Bic, &none).is_err());
}

#[test]
fn other_programs_get_arcs_with_their_strengths() {
    let table = read("a\"<,b\n0,0\n0,0\n0,0\n1,1\n1,1\n1,1\n").unwrap();
    let structure = Structure::from_arcs(table.names(), [("a\"<", "b")]).unwrap();
    let config = BootstrapConfig { replicates: 10, ..BootstrapConfig::default() };
    let strengths = Strengths::bootstrap(&table, ScoreKind::Bic, &config).unwrap();
    let dot = write_dot(table.names(), &structure, Some(&strengths));
    assert!(dot.contains("\"a\\\"<\" -> \"b\" [label=\""), "{dot}");
    assert!(write_dot(table.names(), &structure, None).contains("\"a\\\"<\" -> \"b\";"));
    let graphml = write_graphml(table.names(), &structure, Some(&strengths));
    assert!(graphml.contains("a&quot;&lt;") && graphml.contains("source=\"n0\" target=\"n1\"><data key=\"strength\">"));
    let json = JsonNetwork::of(&fit(&table, &structure, 0.0).unwrap(), Some(&strengths));
    let text = json.to_text().unwrap();
    assert_eq!(serde_json::from_str::<JsonNetwork>(&text).unwrap(), json);
    assert!(text.contains("\"from\": \"a\\\"<\"") && text.contains("\"strength\""), "{text}");
}
