//! Settings and specs that no model can be made from are errors that say what to do.

use pace_graph::{DagSpec, Validity};
use pace_model::encoder::{PaceConfig, Task};
use pace_model::objective::VaeConfig;
use pace_model::store::Saved;

use crate::fit::device;

#[test]
fn a_latent_space_too_narrow_for_its_blocks() {
    let config = VaeConfig { d_latent: 5, ..VaeConfig::per_node() };
    let error = config.width(&DagSpec::na(), &device()).unwrap_err().to_string();
    assert!(error.contains("5 latent dimensions") && error.contains("give at least 9"), "{error}");
    let width = |d_latent, spec| VaeConfig { d_latent, ..VaeConfig::per_node() }.width(&spec, &device()).unwrap();
    assert_eq!((width(9, DagSpec::na()), width(100, DagSpec::na()), width(144, DagSpec::bn())), (9, 99, 143));
    assert!(VaeConfig { d_latent: 0, ..VaeConfig::paper() }.width(&DagSpec::na(), &device()).is_err());
}

#[test]
fn graphs_too_large_for_a_model() {
    let spec = DagSpec { max_nodes: usize::MAX, ..DagSpec::na() };
    let error = VaeConfig::paper().width(&spec, &device()).unwrap_err().to_string();
    assert!(error.contains("18446744073709551615 nodes") && error.contains("set max_nodes"), "{error}");
    // The same from a file.
    let text = Saved::new("pace", PaceConfig::mlm(), spec).to_json();
    let error = Saved::<PaceConfig>::from_json("pace", &text).unwrap_err().to_string();
    assert!(error.contains("18446744073709551615 nodes"), "{error}");
    let no_roles = DagSpec { input: None, ..DagSpec::na() };
    assert_eq!(no_roles.validity, Validity::Chain);
    let text = Saved::new("pace", PaceConfig::mlm(), no_roles).to_json();
    let error = Saved::<PaceConfig>::from_json("pace", &text).unwrap_err().to_string();
    assert!(error.contains("needs an input and an output"), "{error}");
}

#[test]
fn a_memory_by_operation_with_more_operations_than_nodes() {
    let config = VaeConfig::as_published(Task::Bn);
    assert!(config.width(&DagSpec::bn(), &device()).is_ok());
    let few_nodes = DagSpec { max_nodes: 9, validity: Validity::Any, ..DagSpec::bn() };
    let error = config.width(&few_nodes, &device()).unwrap_err().to_string();
    assert!(error.contains("11 operations") && error.contains("a graph has 10"), "{error}");
}

#[test]
fn a_dropout_of_everything() {
    for dropout in ["1", "-0.1", "1e9"] {
        let text = Saved::new("pace", PaceConfig::mlm(), DagSpec::na()).to_json();
        let text = text.replace("\"dropout\": 0.1", &format!("\"dropout\": {dropout}"));
        let error = Saved::<PaceConfig>::from_json("pace", &text).unwrap_err().to_string();
        assert!(error.contains("is not from 0 to below 1"), "{error}");
    }
}
