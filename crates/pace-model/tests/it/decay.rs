//! Weight decay leaves the biases of the paper's models alone, and nothing else.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use pace_graph::DagSpec;
use pace_model::layers::undecayed;
use pace_model::objective::{MlmConfig, VaeConfig};

use crate::setting::test_device;

/// The fields of the biases of these models.
const BIASES: [&str; 8] = ["bias", "beta", "bqkv", "bq", "bkv", "bo", "b1", "b2"];

/// Last part of the path, and id, of every parameter.
#[derive(Default)]
struct Fields {
    path: Vec<String>,
    found: Vec<(String, ParamId)>,
}

impl ModuleVisitor for Fields {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push((self.path.last().cloned().unwrap_or_default(), param.id));
    }
}

fn check(module: &impl Module) {
    let mut fields = Fields::default();
    module.visit(&mut fields);
    let biases: Vec<ParamId> =
        fields.found.iter().filter(|(name, _)| BIASES.contains(&&**name)).map(|(_, id)| *id).collect();
    assert!(biases.len() > 20 && biases.len() < fields.found.len(), "{} of {}", biases.len(), fields.found.len());
    assert_eq!(undecayed(module), biases);
}

#[test]
fn biases_of_the_papers_models() {
    let device = test_device();
    check(&VaeConfig::paper().init(&DagSpec::na(), 1, &device));
    check(&MlmConfig::paper().init(&DagSpec::nas101(), 1, &device));
}
