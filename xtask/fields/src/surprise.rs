//! The labels that a model finds least likely: where the data may be wrong.

use pointsman_agents::form::FieldKind;

use crate::{
    judge::fold,
    train::{Settings, TrainingPage, learn},
};

/// Parts of the data that are held out in turn.
const FOLDS: usize = 5;

/// A label that the model would not have given.
#[derive(Clone, Debug)]
pub struct Surprise {
    /// The page's file and the field's mark.
    pub field: String,
    /// The label as it is written.
    pub label: String,
    /// What the model takes it for.
    pub best: FieldKind,
    /// How unlikely the label is: the negative natural logarithm of its share.
    pub loss: f64,
}

/// Returns every label that a model trained without its site takes for something else, the
/// least likely first.
pub fn surprises(lessons: &[TrainingPage<'_>], settings: &Settings) -> Vec<Surprise> {
    let mut found = Vec::new();
    for nth in 0..FOLDS {
        let (held, seen): (Vec<_>, Vec<_>) =
            lessons.iter().partition(|lesson| fold(lesson.page, FOLDS) == nth);
        let learnt = learn(&seen, settings);
        for lesson in held {
            for field in lesson.fields.iter().filter(|field| field.visible) {
                let Some(label) = lesson.label(field) else { continue };
                let Some((loss, best)) = learnt.surprise(label, field) else { continue };
                if !label.kinds.contains(&best) {
                    let field = format!("{}#{}", lesson.page.file, label.mark);
                    found.push(Surprise { field, label: label.written.clone(), best, loss });
                }
            }
        }
    }
    found.sort_by(|one, other| other.loss.total_cmp(&one.loss));
    found
}
