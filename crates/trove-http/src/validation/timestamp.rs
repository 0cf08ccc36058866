//! Timestamps as clients write them.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Utc};

/// Numbers beyond this are milliseconds: as seconds they would lie after the year 2603.
const SECONDS_MAX: f64 = 2e10;

/// Reads ISO 8601: a date, or a date and a time with or without seconds, fraction and zone.
/// Without a zone it is UTC. A string of digits is an epoch number.
pub(super) fn parse(text: &str) -> Result<DateTime<Utc>, &'static str> {
    if let Ok(epoch) = text.parse::<f64>() {
        return from_epoch(epoch);
    }
    let (date, rest) = text.split_at_checked(10).ok_or("input is too short")?;
    let date = parse_date(date)?;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ', '_']) else {
        return if rest.is_empty() {
            Ok(date.and_time(NaiveTime::MIN).and_utc())
        } else {
            Err("unexpected extra characters at the end of the input")
        };
    };
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let local = NaiveDateTime::new(date, parse_time(time)?);
    let instant = parse_zone(zone)?.from_local_datetime(&local).single();
    // At the edges the zone can lead out of the years that clients can read.
    let instant = instant.map(|instant| instant.to_utc());
    instant.filter(|instant| (1..=9999).contains(&instant.year())).ok_or("the date is out of range")
}

/// Seconds since 1970, or milliseconds where seconds make no sense.
pub(super) fn from_epoch(epoch: f64) -> Result<DateTime<Utc>, &'static str> {
    let seconds = if epoch.abs() > SECONDS_MAX { epoch / 1e3 } else { epoch };
    // Years 1 to 9999.
    if !(-62_135_596_800.0..253_402_300_800.0).contains(&seconds) {
        return Err("dates outside of the years 1 to 9999 are not supported");
    }
    #[expect(clippy::as_conversions, reason = "within the range of i64 by the test above")]
    #[expect(clippy::cast_possible_truncation, reason = "rounded, and within the range of i64")]
    let micros = (seconds * 1e6).round() as i64;
    DateTime::from_timestamp_micros(micros).ok_or("the date is out of range")
}

fn parse_date(text: &str) -> Result<NaiveDate, &'static str> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text.as_bytes() else {
        return Err("invalid date separator, expected `-`");
    };
    let year = number(&[y1, y2, y3, y4]).ok_or("invalid character in year")?;
    let month = number(&[m1, m2]).ok_or("invalid character in month")?;
    let day = number(&[d1, d2]).ok_or("invalid character in day")?;
    if !(1..=12).contains(&month) {
        return Err("month value is outside expected range of 1-12");
    }
    let year = i32::try_from(year).ok().filter(|year| *year > 0).ok_or("year 0 is out of range")?;
    NaiveDate::from_ymd_opt(year, month, day).ok_or("day value is outside expected range")
}

fn parse_time(text: &str) -> Result<NaiveTime, &'static str> {
    let (clock, fraction) = match text.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let (hour, minute, second) = match *clock.as_bytes() {
        [h1, h2, b':', m1, m2] if fraction.is_none() => {
            (number(&[h1, h2]), number(&[m1, m2]), Some(0))
        }
        [h1, h2, b':', m1, m2, b':', s1, s2] => {
            (number(&[h1, h2]), number(&[m1, m2]), number(&[s1, s2]))
        }
        _ => return Err("invalid time format"),
    };
    let micros = match fraction {
        None => 0,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            // What is finer than a microsecond is cut off.
            let padded = format!("{digits:0<6}");
            number(&padded.as_bytes()[..6]).unwrap_or(0)
        }
        Some(_) => return Err("invalid character in second fraction"),
    };
    let (Some(hour), Some(minute), Some(second)) = (hour, minute, second) else {
        return Err("invalid character in time");
    };
    NaiveTime::from_hms_micro_opt(hour, minute, second, micros)
        .ok_or("time value is outside expected range")
}

fn parse_zone(text: &str) -> Result<FixedOffset, &'static str> {
    const INVALID: &str = "invalid timezone offset";
    let (sign, hours, minutes) = match *text.as_bytes() {
        [] | [b'Z' | b'z'] => (1, Some(0), Some(0)),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            (if sign == b'-' { -1 } else { 1 }, number(&[h1, h2]), number(&[m1, m2]))
        }
        [sign @ (b'+' | b'-'), h1, h2] => {
            (if sign == b'-' { -1 } else { 1 }, number(&[h1, h2]), Some(0))
        }
        _ => return Err(INVALID),
    };
    let (Some(hours), Some(minutes @ 0..60)) = (hours, minutes) else { return Err(INVALID) };
    let seconds = i32::try_from(hours * 3600 + minutes * 60).map_err(|_| INVALID)?;
    FixedOffset::east_opt(sign * seconds).ok_or(INVALID)
}

/// The value of a few decimal digits.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::{from_epoch, parse};

    #[test]
    fn the_spellings_of_an_instant_are_read() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                parse(text).map(|instant| instant.to_rfc3339()).as_deref(),
                Ok(expected),
                "{text}"
            );
        };
        check("2024-05-01", "2024-05-01T00:00:00+00:00");
        check("2024-05-01T12:30", "2024-05-01T12:30:00+00:00");
        check("2024-05-01 12:30:15", "2024-05-01T12:30:15+00:00");
        check("2024-05-01t12:30:15.5z", "2024-05-01T12:30:15.500+00:00");
        check("2024-05-01T12:30:15.1234567Z", "2024-05-01T12:30:15.123456+00:00");
        check("2024-05-01T12:30:15+02:00", "2024-05-01T10:30:15+00:00");
        check("2024-05-01T12:30:15-0130", "2024-05-01T14:00:15+00:00");
        check("1714521600", "2024-05-01T00:00:00+00:00");
        check("1714521600000", "2024-05-01T00:00:00+00:00");
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "x",
            "2024",
            "2024-13-01",
            "2024-02-30",
            "0000-01-01",
            "0001-01-01T00:00:00+12:00",
            "9999-12-31T23:59:59-12:00",
            "2024-05-01T25:00:00",
            "2024-05-01T24:00",
            "2024-05-01T12",
            "2024-05-01T12:30:15.",
            "2024-05-01T12:30+25:00",
            "2024-05-01T12:30Zx",
            "2024-05-01x",
            "2024/05/01",
            "NaN",
            "inf",
            "1e300",
            "２０２４-05-01",
            "2024-05-0１",
        ] {
            // Four digits are an epoch number, as in the reference.
            if text == "2024" {
                assert!(parse(text).is_ok());
            } else {
                assert!(parse(text).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn numbers_are_seconds_or_milliseconds() {
        let text = |epoch| from_epoch(epoch).map(|instant| instant.to_rfc3339());
        assert_eq!(text(1.5).as_deref(), Ok("1970-01-01T00:00:01.500+00:00"));
        assert_eq!(text(1_714_521_600_000.0).as_deref(), Ok("2024-05-01T00:00:00+00:00"));
        assert!(text(f64::NAN).is_err());
        assert!(text(1e18).is_err());
    }
}
