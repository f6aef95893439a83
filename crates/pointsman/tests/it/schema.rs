//! The published schema and the reader must agree on the shape of a chart.

use std::fs;

use serde_json::Value;

use crate::{TempFolder, pointsman_in};

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../../../docs/chart.schema.json");
    let schema: Value = serde_json::from_str(text).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

fn as_json(chart: &str) -> Value {
    let value: toml::Value = toml::from_str(chart).expect("the chart is TOML");
    serde_json::to_value(value).expect("TOML without dates is JSON")
}

#[test]
fn the_shipped_charts_have_the_published_shape() {
    for (name, chart) in pointsman_agents::CHARTS {
        let errors: Vec<String> =
            schema().iter_errors(&as_json(chart)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

/// Charts that the reader refuses for their shape must not have the published one.
#[test]
fn schema_rejects_what_the_reader_rejects() {
    for (name, chart) in [
        ("unknown key", include_str!("faulty/pm0102_unknown_key.toml")),
        ("missing key", include_str!("faulty/pm0103_missing_key.toml")),
        ("no cancel", include_str!("faulty/pm0103_no_cancel.toml")),
        ("not a state", include_str!("faulty/pm0104_not_a_state.toml")),
        ("no unit", include_str!("faulty/pm0105_no_unit.toml")),
        ("zero attempts", include_str!("faulty/pm0105_zero_attempts.toml")),
        ("unknown authority", include_str!("faulty/pm0105_unknown_authority.toml")),
        ("bad name", include_str!("faulty/pm0105_bad_name.toml")),
        ("does nothing", include_str!("faulty/pm0301_does_nothing.toml")),
        ("does two things", include_str!("faulty/pm0301_does_two_things.toml")),
    ] {
        assert!(!schema().is_valid(&as_json(chart)), "the schema lets `{name}` through");
    }
}

#[test]
fn init_writes_a_chart_that_names_the_schema_and_passes() {
    let home = TempFolder::new("init");
    insta::assert_snapshot!(pointsman_in(&home.0, &["init", "bots/first.toml"]));
    let chart =
        fs::read_to_string(home.0.join("bots/first.toml")).expect("the file exists and is UTF-8");
    assert!(chart.starts_with("#:schema ./chart.schema.json\n"));
    assert!(schema().is_valid(&as_json(&chart)));
    assert!(home.0.join("bots/chart.schema.json").is_file());
    insta::assert_snapshot!(pointsman_in(&home.0, &["check", "bots/first.toml"]));
    // A second chart beside it uses the schema that is there.
    assert!(pointsman_in(&home.0, &["init", "bots/second.toml"]).starts_with("exit 0"));
    insta::assert_snapshot!(pointsman_in(&home.0, &["init", "bots/first.toml"]));
    assert!(pointsman_in(&home.0, &["init", "bots/first.toml", "--force"]).starts_with("exit 0"));
}
