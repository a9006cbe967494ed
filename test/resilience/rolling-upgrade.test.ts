import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Installation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { checkOutPreviousVersion, type PreviousVersion } from "../harness/previous-version.ts";
import { FLEET, POOL, type StandbyFleet, startStandbyFleet } from "../harness/standby-fleet.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

/** As a Deployment upgrades its two pods: a new pod is ready before an old one is stopped. */
describe("a rolling upgrade from the previous version", () => {
  let previous: PreviousVersion;
  let fleet: StandbyFleet<Installation>;

  beforeAll(async () => {
    previous = await checkOutPreviousVersion();
  });
  afterAll(() => previous.close());
  beforeEach(async () => {
    fleet = await startStandbyFleet();
  });
  afterEach(() => fleet.close());

  const oldVersion = (): MillwrightProcess => fleet.start({ controllers: previous.start });
  const ready = async (process: MillwrightProcess): Promise<MillwrightProcess> => {
    await process.waitFor(/"Ready"/);
    return process;
  };
  const replace = async (
    pods: readonly MillwrightProcess[],
    create: () => MillwrightProcess,
  ): Promise<readonly MillwrightProcess[]> => {
    const created: MillwrightProcess[] = [];
    // The leader first: the next one may be the standby of the same version, or the new one.
    for (const pod of pods) {
      created.push(await ready(create()));
      fleet.expectEnd(pod);
      expect(await pod.stop("SIGTERM"), pod.output().slice(-2_000)).toBe(0);
    }
    return created;
  };
  const untilOneLeads = (pods: readonly MillwrightProcess[]): Promise<unknown> =>
    Promise.any(pods.map((pod) => pod.waitFor(/"Leading"/)));
  const machines = async (): Promise<readonly string[]> =>
    (await fleet.installation.machines()).map(({ metadata, spec }) => `${metadata.uid} ${spec.providerID}`).toSorted();

  it("and back in the middle of rollouts and scale-ups doubles, loses and replaces no machine", async () => {
    const first = oldVersion();
    await first.waitFor(/"Leading"/);
    const old = [first, await ready(oldVersion())];
    await fleet.untilDone("small");
    fleet.invariants.requireRunningMachines(FLEET - 1);

    await fleet.beginLoad("big");
    const upgraded = await replace(old, () => fleet.start());
    await untilOneLeads(upgraded);
    await fleet.untilDone("big");
    await fleet.invariants.check();
    expect(fleet.created(), `upgrade from ${previous.name}`).toBe(2 * FLEET + POOL.after);

    // `helm rollback`.
    await fleet.beginLoad("small");
    const back = await replace(upgraded, oldVersion);
    await untilOneLeads(back);
    await fleet.untilDone("small");
    await fleet.invariants.check();
    expect(fleet.created(), `rollback to ${previous.name}`).toBe(3 * FLEET + POOL.after);

    // Without load an upgrade changes no machine.
    const before = await machines();
    const idle = await replace(back, () => fleet.start());
    await untilOneLeads(idle);
    await untilQuiet(() => fleet.installation.server.requests.filter(({ verb }) => verb === "patch").length);
    expect(await machines()).toEqual(before);
    expect(fleet.created()).toBe(3 * FLEET + POOL.after);
  });
});
