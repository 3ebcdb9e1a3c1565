//! Many clients on one store, in every order in which their steps can happen.
//!
//! Each client runs on its own thread, but may only touch the store when it is told to. The explorer runs the clients again
//! and again, each time with another order of their steps, until no order is left. So a store that can only load and swap,
//! as one on the network can, is shown to keep the limits, whatever comes between its steps.

#![expect(clippy::disallowed_methods, reason = "clients are threads")]

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::budget::Allowance;
use stockade_limits::store::{
    AgentLimits, AgentState, CallVerdict, Change, LimitAnswer, LimitOperation, LimitStore, SharedLimits,
    StateStore, StoreError, SwapResult, VersionedState, VersionedStore, apply_by_update,
    compare_and_swap_loop,
};

/// What the clients share: the store's content and its clock.
#[derive(Clone, Debug, Default)]
struct Shelf {
    version: u64,
    state: AgentState,
    now: Duration,
    swaps: Swaps,
}

/// How the store keeps a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Swaps {
    /// Only if no other write came in between.
    #[default]
    Comparing,
    /// In any case: what is tested here must go wrong with such a store.
    Blindly,
}

/// A client's way to the shelf. Before each step it asks for its turn.
#[derive(Debug)]
struct Stepped {
    client: usize,
    shelf: Arc<Mutex<Shelf>>,
    asks: Mutex<Sender<Event>>,
    turns: Mutex<Receiver<()>>,
}

#[derive(Debug)]
enum Event {
    Asks(usize),
    Ends,
}

impl Stepped {
    fn wait_for_turn(&self) {
        self.asks.lock().unwrap().send(Event::Asks(self.client)).unwrap();
        self.turns.lock().unwrap().recv().unwrap();
    }
}

impl VersionedStore for Stepped {
    fn load(&self, _agent: &str) -> Result<VersionedState, StoreError> {
        self.wait_for_turn();
        let shelf = self.shelf.lock().unwrap();
        Ok(VersionedState { version: shelf.version, state: shelf.state.clone(), now: shelf.now })
    }

    fn compare_and_swap(
        &self,
        _agent: &str,
        expected: u64,
        state: &AgentState,
    ) -> Result<SwapResult, StoreError> {
        self.wait_for_turn();
        let mut shelf = self.shelf.lock().unwrap();
        if shelf.version != expected && shelf.swaps == Swaps::Comparing {
            return Ok(SwapResult::Stale);
        }
        shelf.version += 1;
        shelf.state = state.clone();
        Ok(SwapResult::Kept)
    }
}

impl LimitStore for Stepped {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        apply_by_update(self, agent, limits, operation)
    }
}

impl StateStore for Stepped {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        compare_and_swap_loop(self, agent, change)
    }
}

/// A choice between clients that were ready: which was taken, of how many.
type Choice = (usize, usize);
type Client = fn(&SharedLimits<Stepped>) -> u64;

/// Runs the clients in every order and hands the results of each run to `check`. Returns how many orders there were.
fn explore(
    limits: AgentLimits,
    start: &Shelf,
    clients: usize,
    program: Client,
    mut check: impl FnMut(&[u64]),
) -> u32 {
    let mut path: Vec<Choice> = Vec::new();
    for runs in 1.. {
        let results = run(limits, start, (clients, program), &mut path);
        check(&results);
        while path.last().is_some_and(|(taken, of)| taken + 1 == *of) {
            path.pop();
        }
        match path.last_mut() {
            Some((taken, _)) => *taken += 1,
            None => return runs,
        }
    }
    unreachable!("the orders are finite")
}

fn run(
    limits: AgentLimits,
    start: &Shelf,
    (clients, program): (usize, Client),
    path: &mut Vec<Choice>,
) -> Vec<u64> {
    let shelf = Arc::new(Mutex::new(start.clone()));
    let (asks, events) = channel();
    let mut turns = Vec::new();
    let mut threads = Vec::new();
    for client in 0..clients {
        let (turn, my_turns) = channel();
        turns.push(turn);
        let (asks, ends) = (asks.clone(), asks.clone());
        let store =
            Stepped { client, shelf: shelf.clone(), asks: Mutex::new(asks), turns: Mutex::new(my_turns) };
        threads.push(std::thread::spawn(move || {
            let result = program(&SharedLimits::new(limits, store));
            ends.send(Event::Ends).unwrap();
            result
        }));
    }
    schedule(&events, &turns, path);
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// Gives turns, following `path` as far as it goes and taking the first choice after it.
fn schedule(events: &Receiver<Event>, turns: &[Sender<()>], path: &mut Vec<Choice>) {
    let mut running = turns.len();
    let mut ready = BTreeMap::new();
    let mut depth = 0;
    loop {
        while running > 0 {
            match events.recv().unwrap() {
                Event::Asks(client) => drop(ready.insert(client, ())),
                Event::Ends => {}
            }
            running -= 1;
        }
        if ready.is_empty() {
            return;
        }
        if depth == path.len() {
            path.push((0, ready.len()));
        }
        let client = *ready.keys().nth(path[depth].0).unwrap();
        depth += 1;
        ready.remove(&client);
        turns[client].send(()).unwrap();
        running = 1;
    }
}

fn hundred_tokens() -> AgentLimits {
    let mut limits = AgentLimits::default();
    limits.budget.per_hour = Allowance::tokens(100);
    limits
}

/// Reserves 40 tokens and returns how many were granted.
fn reserve(limits: &SharedLimits<Stepped>) -> u64 {
    match limits.admit("agent", "task", Usage::tokens(40)) {
        CallVerdict::Granted(_permit) => 40,
        CallVerdict::Refused(_) => 0,
    }
}

/// Reserves 60 tokens and uses them all, twice; returns how many were used.
fn reserve_and_use(limits: &SharedLimits<Stepped>) -> u64 {
    let mut used = 0;
    for _ in 0..2 {
        if let CallVerdict::Granted(permit) = limits.admit("agent", "task", Usage::tokens(60)) {
            limits.settle(permit, Usage::tokens(60), CallOutcome::Success).unwrap();
            used += 60;
        }
    }
    used
}

#[test]
fn calls_side_by_side_never_overshoot_together() {
    let orders = explore(hundred_tokens(), &Shelf::default(), 3, reserve, |granted| {
        assert_eq!(granted.iter().sum::<u64>(), 80, "{granted:?}");
    });
    assert!(orders > 90, "{orders} orders");
}

#[test]
fn what_is_settled_meanwhile_counts_as_well() {
    let orders = explore(hundred_tokens(), &Shelf::default(), 2, reserve_and_use, |used| {
        assert_eq!(used.iter().sum::<u64>(), 60, "{used:?}");
    });
    assert!(orders > 100, "{orders} orders");
}

/// An agent whose breaker has just become half-open.
fn half_open(limits: AgentLimits) -> Shelf {
    let mut breaker = stockade_limits::breaker::Breaker::new(limits.breaker);
    for _ in 0..5 {
        breaker.observe(CallOutcome::Failure, Duration::ZERO);
    }
    let state = AgentState { breaker: breaker.into_state(), ..AgentState::default() };
    Shelf { state, now: limits.breaker.cooldown, ..Shelf::default() }
}

#[test]
fn a_half_open_breaker_admits_exactly_one_of_all_who_ask() {
    let limits = AgentLimits::default();
    let orders = explore(limits, &half_open(limits), 3, reserve, |granted| {
        assert_eq!(granted.iter().sum::<u64>(), 40, "{granted:?}");
    });
    assert!(orders > 90, "{orders} orders");
}

/// The orders that are tried are the ones that matter: with a store that does not compare, some of them overshoot.
#[test]
fn a_store_that_does_not_compare_is_found_out() {
    let limits = AgentLimits::default();
    for (limits, start, clients, program, most) in [
        (hundred_tokens(), Shelf::default(), 3, reserve as Client, 80),
        (hundred_tokens(), Shelf::default(), 2, reserve_and_use, 60),
        (limits, half_open(limits), 3, reserve, 40),
    ] {
        let blind = Shelf { swaps: Swaps::Blindly, ..start };
        let (mut right, mut wrong) = (0, 0);
        explore(limits, &blind, clients, program, |used| {
            *if used.iter().sum::<u64>() > most { &mut wrong } else { &mut right } += 1;
        });
        assert!(wrong > 0 && right > 0, "{wrong} orders overshoot, {right} do not");
    }
}
