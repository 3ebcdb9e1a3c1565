//! One run: made, let go, followed to its end, and removed.

#![expect(clippy::disallowed_methods, reason = "keeps the time of a run")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::KubernetesError;
use super::client::{ClusterClient, Suspension};
use super::logs::{Log, LogStream, Piece};
use super::name::RUN;
use super::objects::RunObjects;
use super::pods::{PodEnd, PodState};
use super::watch::{Pods, Seen};
use crate::remote::Stop;
use stockade_exec_sandbox::End;

/// How often the time and a cancellation are checked.
const GLANCE: Duration = Duration::from_millis(50);
/// How long one request for what is printed may go on.
const LOG_WINDOW: Duration = Duration::from_secs(300);
/// How long it may take to read the rest of what was printed, once the command has ended.
const UNTIL_READ: Duration = Duration::from_secs(60);
/// How long it may take until a run is gone that was removed.
const UNTIL_GONE: Duration = Duration::from_secs(60);

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterEnd {
    /// How the command ended.
    pub end: End,
    /// Whether memory ran out, be it for the command or for something that it had started.
    pub memory_ran_out: bool,
    /// From the moment at which it was seen to run to its end.
    pub wall_time: Duration,
    /// Whether some of what it printed could not be read.
    pub lost_output: bool,
}

/// A run that is there, and who asks for it.
#[derive(Debug, Clone, Copy)]
pub struct ClusterRun<'r> {
    client: &'r ClusterClient,
    objects: &'r RunObjects,
}

/// Says whether a run is to end now.
pub(super) type Cancelled = Arc<dyn Fn() -> bool + Send + Sync>;

impl ClusterClient {
    /// Returns the run of these objects. Nothing is asked yet.
    #[must_use]
    pub const fn run<'r>(&'r self, objects: &'r RunObjects) -> ClusterRun<'r> {
        ClusterRun { client: self, objects }
    }
}

impl ClusterRun<'_> {
    /// Runs the command, hands on what it prints as it comes, and returns when it and its pod are gone. Output and messages of a
    /// command come in one stream: Kubernetes does not tell them apart.
    ///
    /// `is_cancelled` is asked all the while; when it says so, the run is ended.
    ///
    /// # Errors
    /// When it could not be run, or how it ended is unknown. Nothing of it is left then, as far as the cluster answers.
    pub fn to_the_end(
        self,
        is_cancelled: impl Fn() -> bool + Send + Sync + 'static,
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<ClusterEnd, KubernetesError> {
        let is_cancelled: Cancelled = Arc::new(is_cancelled);
        let asks = Arc::clone(&is_cancelled);
        let patient = self.client.until(Stop::when(move || asks()));
        let selector = format!("{RUN}={}", self.objects.name);
        let made = patient.make(self.objects).and_then(|suspension| match suspension {
            Suspension::Suspended => patient.let_go(self.objects),
            Suspension::Resumed => Ok(()),
        });
        let ended = made.and_then(|()| {
            let pods = Pods::watch(self.client, &self.objects.namespace, &selector);
            self.follow(&pods, &is_cancelled, print)
        });
        match ended {
            Err(KubernetesError::AnotherRun(name)) => Err(KubernetesError::AnotherRun(name)),
            Err(KubernetesError::Stopped) => {
                self.client.remove(self.objects, UNTIL_GONE)?;
                Ok(ClusterEnd {
                    end: End::Cancelled,
                    memory_ran_out: false,
                    wall_time: Duration::ZERO,
                    lost_output: false,
                })
            }
            ended => {
                let removed = self.client.remove(self.objects, UNTIL_GONE);
                // A run that was ended has to be gone; one that has ended by itself is, and the cluster removes the rest in time.
                match &ended {
                    Ok(ClusterEnd { end: End::TimedOut | End::Cancelled, .. }) => removed.and(ended),
                    _ => ended,
                }
            }
        }
    }

    /// Follows a run that was let go to its end. It stays where it is.
    pub(super) fn follow(
        self,
        pods: &Pods,
        is_cancelled: &Cancelled,
        print: &mut dyn FnMut(&[u8]),
    ) -> Result<ClusterEnd, KubernetesError> {
        let mut following = Following {
            run: self,
            pods,
            begun: Instant::now(),
            running: None,
            ended: None,
            stream: None,
            log: Log::default(),
            is_read: false,
            failures: 0,
        };
        loop {
            if is_cancelled() {
                return following.is_over(End::Cancelled);
            }
            if let Some(end) = following.step(print)? {
                return Ok(end);
            }
        }
    }
}

/// A run that is followed.
struct Following<'f> {
    run: ClusterRun<'f>,
    pods: &'f Pods,
    begun: Instant,
    /// Since when it was seen to run.
    running: Option<Instant>,
    /// How and when it was seen to have ended.
    ended: Option<(PodEnd, Instant)>,
    stream: Option<LogStreamFrom>,
    log: Log,
    /// Whether all that was printed was handed on.
    is_read: bool,
    /// How often in a row nothing could be read.
    failures: u32,
}

/// A stream, and whether the command had ended before it began: then its end is the end of all that is printed.
struct LogStreamFrom {
    stream: LogStream,
    is_last: bool,
}

impl Following<'_> {
    fn step(&mut self, print: &mut dyn FnMut(&[u8])) -> Result<Option<ClusterEnd>, KubernetesError> {
        let seen = self.pods.of(self.run.objects.name.as_str())?;
        self.judge(seen.as_ref())?;
        if let Some((_, since)) = self.ended
            && (self.is_read || since.elapsed() > UNTIL_READ)
        {
            return self.end_of().map(Some);
        }
        if self.is_late() {
            return self.is_over(End::TimedOut).map(Some);
        }
        match seen.filter(|seen| !seen.is_gone && (self.running.is_some() || self.ended.is_some())) {
            Some(seen) => self.read(&seen.pod, print),
            None => {
                // Of a pod that is gone, nothing more is to be read.
                self.is_read |= self.ended.is_some();
                self.pods.wait(GLANCE);
            }
        }
        Ok(None)
    }

    /// Takes in how far the pod is.
    fn judge(&mut self, seen: Option<&Seen>) -> Result<(), KubernetesError> {
        let (objects, client) = (self.run.objects, self.run.client);
        if self.ended.is_some() {
            return Ok(());
        }
        match seen.map(|seen| (&seen.state, seen.is_gone)) {
            Some((PodState::Ended(end), _)) => {
                self.ended = Some((*end, Instant::now()));
            }
            Some((PodState::Never(why), _)) => return Err(KubernetesError::NeverBegan(why.clone())),
            // The cluster removes the pod of a Job whose time is up.
            Some((PodState::Lost(_) | PodState::Running | PodState::Waiting(_), true)) | None
                if self.is_gone_late(seen.is_some())? =>
            {
                let end = PodEnd { end: End::TimedOut, memory_ran_out: false };
                self.ended = Some((end, Instant::now()));
            }
            Some((PodState::Lost(why), _)) => return Err(KubernetesError::Lost(why.clone())),
            Some((PodState::Running, true)) => {
                return Err(KubernetesError::Lost("its pod was deleted while it ran".to_owned()));
            }
            Some((PodState::Waiting(_), true)) => {
                return Err(KubernetesError::Lost("its pod was deleted before it started".to_owned()));
            }
            Some((PodState::Running, false)) => {
                self.running.get_or_insert_with(Instant::now);
            }
            Some((PodState::Waiting(why), false)) if self.begun.elapsed() > objects.start_time => {
                return Err(KubernetesError::NeverBegan(why.clone()));
            }
            None if self.begun.elapsed() > objects.start_time => {
                let said = client.said_of(objects);
                let why = said.unwrap_or_else(|| "the cluster did not create a pod".to_owned());
                return Err(KubernetesError::NeverBegan(why));
            }
            Some((PodState::Waiting(_), false)) | None => {}
        }
        Ok(())
    }

    /// Whether the pod is gone because the time was up. It is asked once a pod was there, and once it should have been.
    fn is_gone_late(&self, was_there: bool) -> Result<bool, KubernetesError> {
        let objects = self.run.objects;
        if was_there || self.begun.elapsed() > objects.time + objects.start_time {
            return self.run.client.is_past_its_time(objects);
        }
        Ok(false)
    }

    fn is_late(&self) -> bool {
        self.ended.is_none() && self.running.is_some_and(|since| since.elapsed() >= self.run.objects.time)
    }

    fn read(&mut self, pod: &str, print: &mut dyn FnMut(&[u8])) {
        let is_last = self.ended.is_some();
        let stream = self.stream.get_or_insert_with(|| {
            let (client, namespace) = (self.run.client, &self.run.objects.namespace);
            let stream = LogStream::open(client, namespace, pod, self.log.begin(), LOG_WINDOW);
            LogStreamFrom { stream, is_last }
        });
        match stream.stream.next(GLANCE) {
            Piece::Bytes(bytes) => {
                self.failures = 0;
                self.log.take(&bytes, print);
            }
            Piece::Nothing => {}
            Piece::End(end) => {
                self.is_read = stream.is_last && end.is_ok();
                self.failures += u32::from(end.is_err());
                self.stream = None;
                if !self.is_read {
                    self.pods.wait(GLANCE * self.failures.clamp(1, 20));
                }
            }
        }
    }

    /// Ends what is still under way, from outside. Output that was not read until then is lost.
    fn is_over(&self, end: End) -> Result<ClusterEnd, KubernetesError> {
        Ok(ClusterEnd {
            end,
            memory_ran_out: false,
            wall_time: self.wall_time(Instant::now()),
            lost_output: false,
        })
    }

    fn end_of(&self) -> Result<ClusterEnd, KubernetesError> {
        let (pod, at) = self.ended.ok_or(KubernetesError::Stopped)?;
        let is_gone = self.pods.of(self.run.objects.name.as_str())?.is_none_or(|seen| seen.is_gone);
        Ok(ClusterEnd {
            end: pod.end,
            memory_ran_out: pod.memory_ran_out,
            wall_time: self.wall_time(at),
            lost_output: !self.is_read || is_gone,
        })
    }

    fn wall_time(&self, end: Instant) -> Duration {
        self.running.map_or(Duration::ZERO, |since| end.saturating_duration_since(since))
    }
}
