//! Numbers and ends as people read them.

use pointsman_kernel::chart::Disposition;

/// Returns how a run ended, in a word.
pub(crate) const fn disposition(ended: Disposition) -> &'static str {
    match ended {
        Disposition::Succeeded => "succeeded",
        Disposition::Cancelled => "cancelled",
        Disposition::Budget => "budget",
        Disposition::Stuck => "stuck",
        Disposition::Denied => "denied",
        _ => "failed",
    }
}

/// Returns the exit code that says how a run stands; 3 is waiting for a person.
pub(crate) const fn exit_code(ended: Option<Disposition>) -> u8 {
    match ended {
        Some(Disposition::Succeeded) => 0,
        None => 3,
        Some(Disposition::Budget) => 4,
        Some(Disposition::Stuck) => 5,
        Some(Disposition::Cancelled) => 6,
        Some(Disposition::Denied) => 7,
        Some(_) => 1,
    }
}

/// Writes a number in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes milliseconds in the two largest units that fit.
pub(crate) fn duration(ms: u64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];
    let first = UNITS.iter().position(|(_, unit)| ms >= *unit).unwrap_or(UNITS.len() - 1);
    let mut rest = ms;
    let mut parts = Vec::new();
    for (name, unit) in UNITS.iter().skip(first).take(2) {
        if rest / unit > 0 || parts.is_empty() {
            parts.push(format!("{} {name}", rest / unit));
        }
        rest %= unit;
    }
    parts.join(" ")
}
