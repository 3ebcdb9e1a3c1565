//! Usage of the entries of a host list, and their limits.

use std::time::{Duration, Instant};

use super::super::conditions::EntryBounds;
use super::super::host_list::NOT_LISTED;

/// Usage of the entries, in their order.
#[derive(Debug)]
pub(super) struct Quotas {
    began: Instant,
    entries: Vec<Used>,
}

#[derive(Debug, Clone, Default)]
struct Used {
    requests: u64,
    /// Start of the current time span of the rate, and the number of requests in it.
    span: Option<(Instant, u64)>,
}

/// The limits of an allowed request or connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Granted {
    /// Maximum bytes from and to the command.
    pub(super) upload: Option<u64>,
    pub(super) download: Option<u64>,
    /// When it is closed.
    pub(super) until: Option<Instant>,
}

/// Why an entry is exhausted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exhausted {
    pub(super) rule: &'static str,
    pub(super) reason: String,
}

impl Quotas {
    pub(super) fn new(began: Instant) -> Self {
        Self { began, entries: Vec::new() }
    }

    /// Charges a request to the first of these entries that is not exhausted.
    pub(super) fn take(
        &mut self,
        entries: &[(usize, &str, EntryBounds)],
        now: Instant,
    ) -> Result<Granted, Exhausted> {
        let mut why = Exhausted { rule: NOT_LISTED, reason: "no entry of the list matches it".to_owned() };
        for (number, written, bounds) in entries {
            if self.entries.len() <= *number {
                self.entries.resize_with(number + 1, Used::default);
            }
            let Some(used) = self.entries.get_mut(*number) else { continue };
            match used.take(self.began, *bounds, now) {
                Ok(granted) => return Ok(granted),
                Err((rule, reason)) => {
                    why = Exhausted { rule, reason: format!("the entry `{written}` {reason}") };
                }
            }
        }
        Err(why)
    }
}

impl Used {
    fn take(
        &mut self,
        began: Instant,
        bounds: EntryBounds,
        now: Instant,
    ) -> Result<Granted, (&'static str, String)> {
        let until = bounds.lifetime.map(|lifetime| began + lifetime);
        if until.is_some_and(|until| now >= until) {
            let seconds = bounds.lifetime.unwrap_or_default().as_secs();
            return Err(("expired", format!("was valid for {seconds} s, which are over")));
        }
        if let Some(most) = bounds.requests.filter(|most| self.requests >= *most) {
            return Err(("too-many", format!("has allowed its {most} requests")));
        }
        if let Some((most, each)) = bounds.rate {
            let so_far = self.in_span(each, now);
            if so_far >= most {
                let shown = each.as_secs();
                return Err(("too-often", format!("allows {most} requests in {shown} s")));
            }
            self.span = self.span.map(|(since, _)| (since, so_far + 1));
        }
        self.requests += 1;
        Ok(Granted { upload: bounds.upload, download: bounds.download, until })
    }

    /// Returns the number of requests in the current time span, and starts a new one if it is over.
    fn in_span(&mut self, each: Duration, now: Instant) -> u64 {
        match self.span {
            Some((since, count)) if now.saturating_duration_since(since) < each => count,
            _ => {
                self.span = Some((now, 0));
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::conditions::Conditions;
    use super::*;

    fn taken(quotas: &mut Quotas, bounds: EntryBounds, now: Instant) -> Result<Granted, &'static str> {
        quotas.take(&[(3, "a.example", bounds)], now).map_err(|exhausted| exhausted.rule)
    }

    #[test]
    fn what_an_entry_has_is_counted() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let none = EntryBounds::default();
        let mut quotas = Quotas::new(began);
        assert!((0..100).all(|_| taken(&mut quotas, none, began) == Ok(Granted::default())));

        let mut quotas = Quotas::new(began);
        let two = EntryBounds { requests: Some(2), upload: Some(5), ..none };
        assert_eq!(taken(&mut quotas, two, began), Ok(Granted { upload: Some(5), ..Granted::default() }));
        assert!(taken(&mut quotas, two, after(9)).is_ok());
        assert_eq!(taken(&mut quotas, two, after(99)), Err("too-many"));
        // Another entry still has some.
        assert!(quotas.take(&[(3, "a", two), (0, "b", none)], began).is_ok());

        let mut quotas = Quotas::new(began);
        let slow = EntryBounds { rate: Some((2, Duration::from_secs(10))), ..none };
        let rows =
            [(0, true), (1, true), (2, false), (9, false), (10, true), (11, true), (19, false), (20, true)];
        for (second, is_let_through) in rows {
            assert_eq!(taken(&mut quotas, slow, after(second)).is_ok(), is_let_through, "{second}");
        }

        let mut quotas = Quotas::new(began);
        let short = EntryBounds { lifetime: Some(Duration::from_secs(10)), ..none };
        assert_eq!(taken(&mut quotas, short, after(9)).unwrap().until, Some(after(10)));
        assert_eq!(taken(&mut quotas, short, after(10)), Err("expired"));
        assert_eq!(quotas.take(&[], began).unwrap_err().rule, "not-listed");
    }

    #[test]
    fn the_longest_time_that_can_be_written_has_an_end() {
        let mut conditions = Conditions::default();
        conditions.add("for=8760h").unwrap();
        let began = Instant::now();
        let granted = taken(&mut Quotas::new(began), conditions.bounds, began).unwrap();
        assert_eq!(granted.until, Some(began + Duration::from_secs(365 * 24 * 3_600)));
    }
}
