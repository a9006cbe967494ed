import { seededRandom } from "@millwright/base";
import { machineClassResource } from "@millwright/core/machine-api";
import { type Controller, type EventRecord, type EventRecorder, keyOf, secretResource } from "@millwright/kube";
import { onTestFinished } from "vitest";
import { createClassChecks } from "../cluster/class-checks.ts";
import { createMachineController } from "../machine/controller.ts";
import { defaultMachineSettings, type MachineSettings } from "../model/machine-settings.ts";
import { createMachineClassController } from "../machine-class/controller.ts";
import { createMachineDeploymentController } from "../machine-deployment/controller.ts";
import { createMachineSetController } from "../machine-set/controller.ts";
import { createSecretController } from "../secret/controller.ts";
import { aMachineClass } from "./builders.ts";
import { createTestCluster } from "./cluster.ts";
import { createFakeDriver, type FakeDriverOptions } from "./fake-driver.ts";
import { aSecret } from "./machine-process.ts";
import { fixed } from "../model/live.ts";

/** An event, and the object that it is about. */
export interface RecordedEvent extends EventRecord {
  readonly kind: string;
  readonly name: string;
}

/** Turns of the event loop in which everything that is ready has run, with a margin. */
const TURNS = 60;

/** A cluster with the class `small`, in which all controllers work in virtual time, until the test is over. */
export async function aWholeCluster(
  seed: number,
  settings: Partial<MachineSettings> = {},
  driverOptions: FakeDriverOptions = {},
) {
  const { api, clock, newContext, run } = createTestCluster({ random: seededRandom(seed) });
  const driver = createFakeDriver(driverOptions);
  api.seed(machineClassResource, aMachineClass());
  api.seed(secretResource, aSecret({ userData: "#cloud-config" }));
  const events: RecordedEvent[] = [];
  const made = newContext();
  const recorder: EventRecorder = {
    ...made.events,
    record: ({ kind = "", metadata: { name = "" } }, event) => void events.push({ ...event, kind, name }),
  };
  const context = { ...made, events: recorder, classChecks: createClassChecks(driver) };
  const machine = createMachineController(context, {
    driver,
    settings: fixed({ ...defaultMachineSettings, ...settings }),
    workers: 4,
  });
  const { machines, sets, deployments, classes, secrets } = context.caches;
  const watched: readonly (readonly [
    Controller,
    { list: () => readonly { metadata: { name: string; namespace?: string } }[] },
  ])[] = [
    [machine.controller, machines.store],
    [createMachineSetController(context, 2), sets.store],
    [createMachineDeploymentController(context, 2), deployments.store],
    [createMachineClassController(context, 1), classes.store],
    [createSecretController(context, 1), secrets.store],
  ];
  const stop = new AbortController();
  await run(context, stop.signal);
  const running = watched.map(([controller]) => controller.start(stop.signal));
  onTestFinished(async () => {
    stop.abort(new Error("the test is over"));
    await machine.close();
    await Promise.all(running);
  });

  /** Lets the controllers work until they have nothing left to do at this moment. */
  const turn = async (): Promise<void> => {
    for (let index = 0; index < TURNS; index++) await clock.advance(0);
  };
  /** Lets so much time pass. */
  const pass = async (ms: number): Promise<void> => {
    await turn();
    if (ms > 0) await clock.advance(ms);
    await turn();
  };
  /**
   * Work that no controller has done or scheduled: reconciles every object again, although nothing has changed, and returns the effects. A key whose last reconcile failed is
   * left alone, because its retry is scheduled.
   */
  const missedWork = async (): Promise<readonly string[]> => {
    await turn();
    const before = {
      writes: api.writes().length,
      calls: driver.calls.length,
      timers: watched.map(([controller]) => controller.queue.counts().delayed),
    };
    for (const [controller, store] of watched) {
      for (const object of store.list()) {
        const key = keyOf(object);
        if (controller.queue.failures(key) === 0) controller.enqueue(key);
      }
    }
    await turn();
    return [
      ...api
        .writes()
        .slice(before.writes)
        .map(
          ({ verb, resource, key, subresource = "", body }) =>
            `${verb} ${resource} ${key} ${subresource} ${JSON.stringify(body)}`,
        ),
      ...driver.calls.slice(before.calls),
      ...watched.flatMap(([controller], index) =>
        controller.queue.counts().delayed > (before.timers[index] ?? 0) ? [`a timer of ${controller.name}`] : [],
      ),
    ];
  };
  return { api, clock, driver, events, pass, missedWork };
}
