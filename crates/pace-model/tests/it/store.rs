//! Saving and loading: what is wrong with a file is an error that says so, and nothing is half loaded.

use burn::module::Module;
use pace_graph::DagSpec;
use pace_graph::enumerate::Enas;
use pace_model::encoder::{DagEncoder, PaceConfig, Task};
use pace_model::objective::{Objective, VaeConfig};
use pace_model::store::{Saved, load_pytorch, load_safetensors, to_safetensors};
use pace_model::{DagTable, Error};
use safetensors::SafeTensors;

use crate::setting::{sample, test_device, values};

fn saved() -> Saved<VaeConfig> {
    Saved::new("pace-vae", VaeConfig::paper(), DagSpec::na())
}

#[test]
fn a_model_comes_back_whole() {
    let device = test_device();
    let saved = saved();
    let model = saved.config.init(&saved.spec, 3, &device);
    let bytes = saved.to_safetensors(&model);
    let again: Saved<VaeConfig> = Saved::from_safetensors("pace-vae", &bytes).unwrap();
    assert_eq!(again, saved);
    assert_eq!(Saved::from_json("pace-vae", &saved.to_json()).unwrap(), saved);
    let loaded = again.load(again.config.init(&again.spec, 4, &device), &bytes).unwrap();
    let table = DagTable::new(&sample(&Enas::default(), 5, 0), model.encoder().layout());
    let batch = table.whole(&device).train(1);
    assert_eq!(values(loaded.loss(&batch).total), values(model.loss(&batch).total));
    assert_eq!(again.to_safetensors(&loaded), bytes, "the same model is the same bytes");
}

/// Loaded parameters are as trainable as those they replace.
#[test]
fn a_loaded_model_trains() {
    let device = test_device().autodiff();
    let saved = saved();
    let bytes = saved.to_safetensors(&saved.config.init(&saved.spec, 3, &device));
    let loaded = saved.load(saved.config.init(&saved.spec, 4, &device), &bytes).unwrap();
    let table = DagTable::new(&sample(&Enas::default(), 5, 0), loaded.encoder().layout());
    let grads = loaded.loss(&table.whole(&device)).total.backward();
    for (name, (_, gradient)) in crate::setting::gradients(&loaded, &grads) {
        assert!(gradient.is_some(), "{name}");
    }
}

/// Files outlive code: a renamed parameter must be noticed.
#[test]
fn names_are_paths() {
    let device = test_device();
    let bytes = to_safetensors(&VaeConfig::paper().init(&DagSpec::na(), 0, &device));
    let file = SafeTensors::deserialize(&bytes).unwrap();
    for name in [
        "encoder.embedding.weight",
        "encoder.embedding.position.first",
        "encoder.stack.blocks.0.attention.wqkv",
        "encoder.stack.blocks.2.norm_feed_forward.gamma",
        "mu.weight",
        "log_variance.bias",
        "decoder.memory.weight",
        "decoder.blocks.1.cross.wkv",
        "decoder.heads.edge_target.bias",
    ] {
        assert!(file.tensor(name).is_ok(), "{name} is not in {:?}", file.names());
    }
    assert_eq!(file.tensor("encoder.stack.blocks.0.attention.wqkv").unwrap().shape(), [128, 384]);
    // Files do not tell whether the encoder was chosen in code or at run time.
    let any = to_safetensors(&VaeConfig::paper().any().init(&DagSpec::na(), 0, &device));
    assert_eq!(any, bytes);
}

#[test]
fn another_model_is_refused() {
    let device = test_device();
    let saved = saved();
    let bytes = saved.to_safetensors(&saved.config.init(&saved.spec, 3, &device));

    let kind = Saved::<PaceConfig>::from_safetensors("pace", &bytes).unwrap_err();
    assert!(matches!(&kind, Error::OtherModel { found, .. } if found == "pace-vae"), "{kind}");

    let other = Saved::new("pace-vae", VaeConfig { beta: 0.01, ..VaeConfig::paper() }, DagSpec::na());
    let error = other.load(other.config.init(&other.spec, 0, &device), &bytes).unwrap_err();
    assert!(matches!(&error, Error::OtherConfig { found, .. } if found.contains("0.005")), "{error}");

    let old = saved.to_json().replace(pace_graph::CANON_ID, "pace-canon-0");
    let error = Saved::<VaeConfig>::from_json("pace-vae", &old).unwrap_err();
    assert!(matches!(error, Error::OtherCanon { .. }), "{error}");

    let error = Saved::<VaeConfig>::from_json("pace-vae", "{}").unwrap_err();
    assert!(matches!(error, Error::BadConfig { .. }), "{error}");
    let plain = to_safetensors(&PaceConfig::vae().init(&DagSpec::na(), 0, &device));
    assert!(matches!(Saved::<VaeConfig>::from_safetensors("pace-vae", &plain), Err(Error::NoConfig)));
}

#[test]
fn tensors_must_fit_one_to_one() {
    let device = test_device();
    let init = |config: &PaceConfig, spec: &DagSpec| config.init(spec, 0, &device);
    let (vae, na) = (PaceConfig::vae(), DagSpec::na());
    let bytes = to_safetensors(&init(&vae, &na));

    let error = load_safetensors(init(&vae, &DagSpec::bn()), &bytes).unwrap_err();
    assert!(matches!(error, Error::TensorShape { .. }), "{error}");
    let error = load_safetensors(init(&PaceConfig::as_published(Task::Nas101), &na), &bytes).unwrap_err();
    assert!(matches!(error, Error::MissingTensor { .. } | Error::TensorShape { .. }), "{error}");
    let mut deep = vae.clone();
    deep.blocks.n_layers = 4;
    let error = load_safetensors(init(&deep, &na), &bytes).unwrap_err();
    assert!(matches!(&error, Error::MissingTensor { name } if name.starts_with("stack.blocks.3")), "{error}");
    let error = load_safetensors(init(&vae, &na), &to_safetensors(&init(&deep, &na))).unwrap_err();
    assert!(matches!(&error, Error::UnknownTensor { name } if name.starts_with("stack.blocks.3")), "{error}");
    let error = load_pytorch(init(&vae, &na), &bytes).unwrap_err();
    assert!(matches!(&error, Error::MissingTensor { name } if name.starts_with("embedding.op")), "{error}");
}

/// Every cut and every flipped byte of the header is an error or the same model, never a panic.
#[test]
fn damaged_files_are_errors() {
    let device = test_device();
    let config = PaceConfig::vae();
    let model = config.init(&DagSpec::na(), 0, &device);
    let saved = Saved::new("pace", config, DagSpec::na());
    let bytes = saved.to_safetensors(&model);
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize + 8;
    for length in (0..header).step_by(37).chain([bytes.len() - 1]) {
        let error = load_safetensors(model.clone(), &bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::DamagedFile { .. }), "{length}: {error}");
        assert!(Saved::<PaceConfig>::from_safetensors("pace", &bytes[..length]).is_err());
    }
    for place in (0..header).step_by(5) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 0x15;
        if let Ok(loaded) = saved.load(model.clone(), &flipped) {
            assert_eq!(loaded.num_params(), model.num_params());
        }
    }
}
