//! What `check` says about a chart, as JSON: the same for the command line and over HTTP.

use pointsman_kernel::{
    agents::Program,
    chart::{AuthorityReport, Certificate, RefusedChart},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::agents::AGENTS;

/// What was found about a chart.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct CheckReport {
    /// The chart's name.
    chart: Box<str>,
    /// Whether it is sound.
    ok: bool,
    /// What is wrong with it.
    errors: Vec<ChartFinding>,
    /// How many more errors there are.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    more: usize,
    /// The proved worst case.
    #[schema(value_type = Option<Object>)]
    certificate: Option<Certificate>,
    /// The routes that model output can cause.
    #[schema(value_type = Option<Object>)]
    authority: Option<AuthorityReport>,
}

/// One error in a chart.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ChartFinding {
    /// Its code, which `pointsman explain` explains.
    #[schema(example = "PM0501")]
    code: &'static str,
    /// What is wrong.
    message: String,
    /// The line, from 1.
    line: usize,
    /// The column, from 1.
    column: usize,
    /// What to do next.
    hint: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl CheckReport {
    /// Verifies the text of a chart.
    pub(crate) fn of(text: &str) -> Self {
        match AGENTS.verify(text) {
            Ok(program) => Self::sound(&program),
            Err(refused) => Self {
                errors: ChartFinding::all(text, &refused),
                more: refused.more,
                chart: refused.chart.into(),
                ok: false,
                certificate: None,
                authority: None,
            },
        }
    }

    /// Reports a chart that was verified.
    fn sound(program: &Program) -> Self {
        Self {
            chart: program.name().into(),
            ok: true,
            errors: Vec::new(),
            more: 0,
            certificate: Some(program.certificate()),
            authority: Some(program.authority_report().clone()),
        }
    }

    /// Returns whether the chart is sound.
    pub(crate) const fn is_ok(&self) -> bool {
        self.ok
    }
}

impl ChartFinding {
    /// Returns everything that is wrong with a chart.
    pub(crate) fn all(text: &str, refused: &RefusedChart) -> Vec<Self> {
        let located = refused.diagnostics.iter().map(|diagnostic| {
            let (line, column) = diagnostic.span.locate(text);
            Self {
                code: diagnostic.code.as_str(),
                message: diagnostic.message.clone(),
                line,
                column,
                hint: diagnostic.hint.clone(),
            }
        });
        located.collect()
    }
}
