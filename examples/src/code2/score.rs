//! Predictions and their F1.

use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::Vectors;
use pace_model::ast::AstTable;
use pace_model::encoder::GraphEncoder;
use pace_model::objective::{Vocabulary, sub_token_f1};
use pace_train::embed::embed_all;

use super::N_WORDS;
use super::data::Functions;
use super::plan::Model;

/// Functions that are encoded at a time.
const SHARD: usize = 32;

/// The most probable class of every word of every function.
pub fn predict(model: &Model, table: &AstTable, device: &Device) -> Vec<Vec<usize>> {
    let classes = embed_all(table, SHARD, device, |batch| {
        let tokens: Vec<f32> = model.predict_tokens(batch).into_iter().flatten().map(|token| token as f32).collect();
        let n = tokens.len() / N_WORDS;
        Tensor::from_data(TensorData::new(tokens, [n, N_WORDS]), device)
    });
    (0..classes.len()).map(|row| classes.row(row).iter().map(|&class| class as usize).collect()).collect()
}

/// The vectors of functions.
pub fn vectors(model: &Model, table: &AstTable, device: &Device) -> Vectors {
    embed_all(table, SHARD, device, |batch| model.encoder().embed(batch))
}

/// F1 of every function.
pub fn scores(predicted: &[Vec<usize>], labels: &[Vec<String>], words: &Vocabulary) -> Vec<f64> {
    predicted.iter().zip(labels).map(|(tokens, label)| sub_token_f1(&words.decode(tokens), label)).collect()
}

/// F1 of some functions.
pub fn f1(model: &Model, functions: &Functions, words: &Vocabulary, device: &Device) -> f64 {
    mean(&scores(&predict(model, &functions.table, device), &functions.labels, words))
}

pub use crate::metrics::mean;
