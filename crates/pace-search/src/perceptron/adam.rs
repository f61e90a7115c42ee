//! [`Adam`] with decoupled weight decay, in single precision.

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Moments of the gradient (Kingma & Ba 2015; Loshchilov & Hutter 2019).
///
/// ```text
/// m = 0.9 m + 0.1 g,  v = 0.999 v + 0.001 g^2,  p -= rate (m' / (sqrt(v') + 1e-8) + decay p)
/// ```
///
/// where m' and v' are m and v without their bias towards zero.
pub(super) struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    pub(super) n_steps: i32,
}

impl Adam {
    pub(super) fn new(n_parameters: usize) -> Adam {
        Adam { first: vec![0.0; n_parameters], second: vec![0.0; n_parameters], n_steps: 0 }
    }

    pub(super) fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rate: f32, decay: f32) {
        self.n_steps += 1;
        let (unbias1, unbias2) = (1.0 - BETA1.powi(self.n_steps), 1.0 - BETA2.powi(self.n_steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for ((parameter, &slope), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
                    *first = BETA1 * *first + (1.0 - BETA1) * slope;
                    *second = BETA2 * *second + (1.0 - BETA2) * slope * slope;
                    let direction = (*first / unbias1) / ((*second / unbias2).sqrt() + EPSILON);
                    *parameter -= rate * (direction + decay * *parameter);
                }
            },
        );
    }
}
