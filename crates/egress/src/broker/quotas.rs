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
    /// Start of the current minute of an entry that only reads, and the bytes that its requests uploaded nonetheless.
    minute: Option<(Instant, u64)>,
}

/// Maximum number of bytes in long addresses and headers that an entry without uploads lets through in a minute. Without it, a
/// command could send a file in the paths of its requests.
const MAX_IN_HEADS: u64 = 64 << 10;
const MINUTE: Duration = Duration::from_secs(60);

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
        uploaded: u64,
        now: Instant,
    ) -> Result<Granted, Exhausted> {
        let mut why = Exhausted { rule: NOT_LISTED, reason: "no entry of the list matches it".to_owned() };
        for (number, written, bounds) in entries {
            if self.entries.len() <= *number {
                self.entries.resize_with(number + 1, Used::default);
            }
            let Some(used) = self.entries.get_mut(*number) else { continue };
            match used.take(self.began, *bounds, uploaded, now) {
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
        uploaded: u64,
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
        let in_minute = counted(&mut self.minute, MINUTE, now).saturating_add(uploaded);
        if bounds.reads_only && in_minute > MAX_IN_HEADS {
            let most = MAX_IN_HEADS >> 10;
            let reason = format!(
                "only reads, and allows {most} KiB of long paths and headers a minute; `upload=` allows more"
            );
            return Err(("too-much", reason));
        }
        if let Some((most, each)) = bounds.rate {
            let so_far = counted(&mut self.span, each, now);
            if so_far >= most {
                let shown = each.as_secs();
                return Err(("too-often", format!("allows {most} requests in {shown} s")));
            }
            self.span = self.span.map(|(since, _)| (since, so_far + 1));
        }
        self.minute = self.minute.map(|(since, _)| (since, in_minute));
        self.requests += 1;
        Ok(Granted { upload: bounds.upload, download: bounds.download, until })
    }
}

/// Returns what was counted in the current time span, and starts a new one if it is over.
fn counted(span: &mut Option<(Instant, u64)>, each: Duration, now: Instant) -> u64 {
    match *span {
        Some((since, count)) if now.saturating_duration_since(since) < each => count,
        _ => {
            *span = Some((now, 0));
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::conditions::{Asked, Conditions};
    use super::*;

    fn taken(quotas: &mut Quotas, bounds: EntryBounds, now: Instant) -> Result<Granted, &'static str> {
        quotas.take(&[(3, "a.example", bounds)], 0, now).map_err(|exhausted| exhausted.rule)
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
        assert!(quotas.take(&[(3, "a", two), (0, "b", none)], 0, began).is_ok());

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
        assert_eq!(quotas.take(&[], 0, began).unwrap_err().rule, "not-listed");
    }

    /// A thousand requests of a package manager pass, and a file in paths or headers does not.
    #[test]
    fn what_only_reads_uploads_little() {
        let bounds = |words: &str| {
            let mut conditions = Conditions::default();
            words.split(' ').for_each(|word| conditions.add(word).unwrap());
            conditions.bounds()
        };
        let passed = |words: &str, path: usize, head: usize, seconds_between: u64| {
            let began = Instant::now();
            let mut quotas = Quotas::new(began);
            let path = format!("/{}", "x".repeat(path - 1));
            let asked = Asked { head: path.len() + head, ..Asked::new("GET", &path) };
            let at = |number: u64| began + Duration::from_secs(number * seconds_between);
            let entry = [(0, "a.example", bounds(words))];
            (0..1_000).take_while(|number| quotas.take(&entry, asked.uploaded(), at(*number)).is_ok()).count()
        };
        assert_eq!(passed("GET|HEAD", 160, 4_096, 0), 1_000);
        assert_eq!(passed("GET /v1/**", 160 + 1_024, 500, 0), 64);
        assert_eq!(passed("GET", 100, 4_096 + 16_384, 0), 4);
        assert_eq!(passed("GET", 160 + 1_024, 500, 1), 1_000, "each minute has its own");
        for wide in ["GET|POST", "POST", "/v1/**", "GET upload=1M"] {
            assert_eq!(passed(wide, 10_000, 20_000, 0), 1_000, "{wide}");
        }
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
