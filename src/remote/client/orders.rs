//! What a window asks of a run on another machine, and what becomes of what was made there.

use super::thread::Client;
use crate::engine::{Command, Job};
use crate::export::errand::Errand;
use crate::remote::files::Sending;
use crate::remote::frame::SceneId;
use crate::remote::scenes;
use crate::remote::wire::{self, Order, Request, SceneMessage, ToServer};
use crate::scene::Scenario;
use crate::units;
use std::sync::Arc;

/// Bytes of a file that a scene takes along to the machine of the run: they wait in memory until that has them.
const LONGEST_UP: u64 = 1 << 30;

impl Client {
    pub(super) fn request(&mut self, request: Request) {
        self.number += 1;
        let bytes = wire::encode(&ToServer::Request(self.number, request));
        if let Some(line) = &mut self.line
            && let Err(lost) = line.send(bytes.clone())
        {
            self.lose(&lost);
        }
        self.unheard.push_back((self.number, bytes));
    }

    /// As it travels; `None` for what does not.
    ///
    /// # Errors
    /// Why it cannot be done there, in words for people.
    pub(super) fn order(&mut self, command: Command) -> Result<Option<Order>, String> {
        Ok(Some(match command {
            Command::Load(scenario) => {
                // A film of the run ends with it.
                self.each = None;
                Order::Load(self.scene(&scenario)?)
            }
            Command::Update(scenario) => Order::Update(self.scene(&scenario)?),
            Command::Compare(Some(scenario)) => Order::Compare(Some(self.scene(&scenario)?)),
            Command::Compare(None) => Order::Compare(None),
            Command::Play => Order::Play,
            Command::Pause => Order::Pause,
            Command::Step(steps) => Order::Step(steps),
            Command::Reset => Order::Reset,
            Command::Snapshot => Order::Snapshot,
            Command::Restore => Order::Restore,
            Command::Reverse => Order::Reverse,
            Command::BackToTurn => Order::BackToTurn,
            Command::StepsPerFrame(steps) => Order::StepsPerFrame(steps),
            Command::Rest(rests) => Order::Rest(rests),
            Command::View(request) => Order::View(request),
            Command::Volume(request) => Order::Volume(request),
            Command::StateMeasures(wanted) => Order::StateMeasures(wanted),
            Command::Run(job) => {
                let (id, errand) = self.errand(&job)?;
                let product = errand.maker.product.clone();
                self.errands.insert(id, errand);
                Order::Make(id, product)
            }
            Command::EachPicture(Some(job)) => {
                let (id, errand) = self.errand(&job)?;
                let product = errand.maker.product.clone();
                self.each = Some((id, errand));
                Order::MakeEach(Some((id, product)))
            }
            Command::EachPicture(None) => {
                self.each = None;
                Order::MakeEach(None)
            }
            Command::Quit => return Ok(None),
        }))
    }

    fn errand(&mut self, job: &Job) -> Result<(u64, Arc<Errand>), String> {
        let errand = job.of_kind::<Errand>();
        let errand = errand.ok_or("this cannot be done with a run on another machine")?;
        self.next_job += 1;
        Ok((self.next_job, errand))
    }

    /// The number of a scene; one that has none is sent.
    fn scene(&mut self, scenario: &Arc<Scenario>) -> Result<u64, String> {
        let known = self.scenes.iter().find_map(|(id, own)| match id {
            SceneId::Window(id) if Arc::ptr_eq(own, scenario) => Some(*id),
            _ => None,
        });
        if let Some(id) = known {
            return Ok(id);
        }
        let (text, files) = scenes::pack(scenario, &mut self.names)?;
        for (path, name) in files {
            let mut sending = Sending::default();
            let cannot = |error: &dyn std::fmt::Display| format!("{} cannot be sent: {error}", path.display());
            let length = std::fs::metadata(&path).map_err(|error| cannot(&error))?.len();
            if length > LONGEST_UP {
                return Err(cannot(&format!(
                    "it has {} and may have {}; make it on the machine of the run, and serve a scene that names it",
                    units::bytes(length),
                    units::bytes(LONGEST_UP)
                )));
            }
            sending.add(&path, name, false).map_err(|error| cannot(&error))?;
            while let Some(piece) = sending.next_piece() {
                self.request(Request::Piece(piece));
            }
        }
        self.next_scene += 1;
        let id = self.next_scene;
        self.request(Request::Scene(SceneMessage { id, text }));
        self.scenes.push((SceneId::Window(id), Arc::clone(scenario)));
        Ok(id)
    }

    /// What came of work that was asked for.
    pub(super) fn take(&mut self, job: u64, result: Result<(Option<String>, String), String>) {
        let each = self
            .each
            .as_ref()
            .filter(|(id, _)| *id == job)
            .map(|(_, errand)| Arc::clone(errand));
        let errand = each.clone().or_else(|| self.errands.remove(&job));
        let (name, done) = match result {
            Err(text) => (None, Err(text)),
            Ok((name, told)) => {
                let path = name.as_deref().and_then(|name| self.store.path(name));
                let done = match (errand, path) {
                    // What was given up meanwhile.
                    (None, _) => Ok(String::new()),
                    (Some(errand), path) => errand.deliver(&path.unwrap_or_default(), &told),
                };
                (name, done)
            }
        };
        if let Some(name) = name {
            // It was delivered, or nobody wants it; the folder goes with what is left.
            let _ = std::fs::remove_file(self.store.folder().join(&name));
            self.store.forget(&name);
        }
        match done {
            Ok(text) if text.is_empty() => {}
            Ok(text) => self.say(false, text),
            Err(text) => {
                if each.is_some() {
                    self.each = None;
                    self.request(Request::Command(Order::MakeEach(None)));
                }
                self.say(true, text);
            }
        }
    }
}
