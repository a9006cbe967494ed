import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { systemClock } from "@millwright/base";
import { type Dashboard, serveDashboard } from "@millwright/dashboard";
import { noLog } from "@millwright/kube";
import { type ClusterObjects, machineReportFrom } from "@millwright/runtime/reports";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TICK_MS } from "../../packages/dashboard/src/stream/fleet-stream.ts";
import { aMachine, createTestFleet } from "../../packages/dashboard/src/testing/fleet.ts";
import { hasChromium, startBrowser } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";

const MACHINES = 5_000;
const DEPLOYMENTS = 50;
/** Changes while the page is measured, and how many of them a second. */
const CHANGES = 200;
const CHANGE_MS = 20;

const ownedBy = (kind: string, name: string) => [
  { apiVersion: "machine.sapcloud.io/v1alpha1", kind, name, uid: `uid-${name}`, controller: true },
];
const nameOf = (index: number): string => `pool-${index % DEPLOYMENTS}-${String(index).padStart(4, "0")}`;
const setOf = (index: number): string =>
  `pool-${index % DEPLOYMENTS}-${index % (2 * DEPLOYMENTS) < DEPLOYMENTS ? "old" : "new"}`;

/** Of the machines in the order of their names. */
const lastName =
  Array.from({ length: MACHINES }, (_, index) => nameOf(index))
    .toSorted()
    .at(-1) ?? "";

/** A machine of a deployment that is in the middle of a rollout. */
function machineAt(index: number, phase = "Running", description = "joined"): Machine {
  const machine = aMachine(nameOf(index));
  return {
    ...machine,
    metadata: { ...machine.metadata, ownerReferences: ownedBy("MachineSet", setOf(index)) },
    status: {
      currentStatus: { phase, lastUpdateTime: "2026-01-01T00:01:00Z" },
      lastOperation: { description, state: phase === "Running" ? "Successful" : "Failed", type: "HealthCheck" },
    },
  };
}

const templateOf = (name: string) => ({ spec: { class: { kind: "MachineClass", name } } });
const versionOf = (name: string) => ({ name, namespace: "ns", uid: `uid-${name}`, resourceVersion: "1" });

function deploymentAt(index: number): MachineDeployment {
  const revision = { "deployment.kubernetes.io/revision": "2" };
  return {
    metadata: { ...versionOf(`pool-${index}`), annotations: revision },
    spec: { replicas: MACHINES / DEPLOYMENTS, template: templateOf("new") },
  };
}

function setAt(index: number, part: "old" | "new"): MachineSet {
  return {
    metadata: {
      ...versionOf(`pool-${index}-${part}`),
      annotations: { "deployment.kubernetes.io/revision": part === "old" ? "1" : "2" },
      ownerReferences: ownedBy("MachineDeployment", `pool-${index}`),
    },
    spec: { replicas: MACHINES / DEPLOYMENTS / 2, template: templateOf(part) },
  };
}

const drainTexts =
  "Draining: evicting pods: default/web-1: cannot evict pod as it would violate the pod's disruption budget";
const hostileName = "\u202Egnp.exe";
const hostile = `<img src=x onerror="document.title='harmed'">${hostileName} ${"A".repeat(1_000_000)}`;

/** One sequence: each test continues after the previous one. */
describe.skipIf(!hasChromium)(
  `the dashboard with ${MACHINES} machines (where test/system/install-chromium was possible)`,
  () => {
    const held = new Set<string>();
    const { fleet, machines, sets, deployments } = createTestFleet({
      isHeld: ({ metadata }) => held.has(metadata.name),
      describeMachine: (name) => Promise.resolve(machineReportFrom(name, objects(), systemClock.now())),
    });
    const objects = (): ClusterObjects => ({
      namespace: "ns",
      machines: machines.list(),
      sets: sets.list(),
      deployments: deployments.list(),
      classes: [],
      nodes: [],
      notes: [],
      drainSources: () => Promise.reject(new Error("no drain is previewed")),
    });
    let dashboard: Dashboard;
    let browser: Browser;
    let page: Page;
    let devtools: CDPSession;
    const errors: string[] = [];

    const rows = () => page.getByRole("listbox").getByRole("option");
    const metrics = async (): Promise<Readonly<Record<string, number>>> => {
      const { metrics: all } = await devtools.send("Performance.getMetrics");
      return Object.fromEntries(all.map(({ name, value }) => [name, value]));
    };
    const since = async (before: Readonly<Record<string, number>>, name: string): Promise<number> =>
      ((await metrics())[name] ?? 0) - (before[name] ?? 0);

    beforeAll(async () => {
      for (let index = 0; index < DEPLOYMENTS; index += 1) {
        deployments.applyEvent(deploymentAt(index));
        sets.applyEvent(setAt(index, "old"));
        sets.applyEvent(setAt(index, "new"));
      }
      for (let index = 0; index < MACHINES; index += 1) machines.applyEvent(machineAt(index));
      dashboard = await serveDashboard({
        address: "127.0.0.1",
        port: 0,
        fleets: [fleet],
        reviewClient: { request: () => Promise.reject(new Error("no request is expected")) },
        toYaml: (object) => JSON.stringify(object),
        clock: systemClock,
        log: noLog,
      });
      browser = await startBrowser();
      page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      page.setDefaultTimeout(60_000);
      page.on("pageerror", ({ message }) => errors.push(message));
      devtools = await page.context().newCDPSession(page);
      await devtools.send("Performance.enable");
      await page.goto(dashboard.url);
      await page.getByText("Live", { exact: true }).waitFor();
    });
    afterAll(async () => {
      await browser.close();
      await dashboard.close();
    });

    it("draws the rows that are seen, and no others", async () => {
      await page.getByText(`${MACHINES} machines`).waitFor();
      expect(await rows().count()).toBeGreaterThan(5);
      expect(await rows().count()).toBeLessThan(60);
      await page.keyboard.press("End");
      await page.getByRole("option", { selected: true }).getByText(lastName).waitFor();
      expect(await rows().count()).toBeLessThan(60);
      await page.keyboard.press("Home");
    });

    it("draws once for what changes within a quarter of a second, with work that does not grow", async () => {
      const stop = new AbortController();
      const stream = await fetch(`${dashboard.url}api/stream`, { signal: stop.signal });
      let text = "";
      const reading = (async () => {
        for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString("utf8");
      })().catch(() => undefined);
      await eventually(async () => expect(text).toContain("event: synced"));
      text = "";
      const before = await metrics();
      const startedMs = systemClock.monotonicMs();
      for (let change = 0; change < CHANGES; change += 1) {
        machines.applyEvent(machineAt((change * 37) % MACHINES, "Unknown", `change ${change}`));
        await systemClock.sleep(CHANGE_MS);
      }
      await page.getByText(`${CHANGES} Unknown`).waitFor();
      stop.abort();
      await reading;
      const ticks = Math.ceil((systemClock.monotonicMs() - startedMs) / TICK_MS);
      const events = text.split("event: rows\n").length - 1;
      const beats = text.split("event: beat\n").length - 1;
      // One for each tick, however slow this computer is; without ticks there would be one for each change.
      expect(events).toBeLessThanOrEqual(Math.min(ticks + 1, CHANGES - 1));
      expect(text.length).toBeLessThan(CHANGES * 600 + beats * 100);
      // A drawing lays the page out once, and the next one looks for the size of the list; ages are drawn each second. An animation would do it for each frame.
      expect(await since(before, "LayoutCount")).toBeLessThanOrEqual(2 * (events + beats) + 10);
      expect((await metrics())["Nodes"]).toBeLessThan(10_000);
    });

    it("shows failing machines first, and filters them by keys", async () => {
      await page.keyboard.press("Home");
      await eventually(async () => expect(await rows().first().textContent()).toContain("Unknown"));
      await page.keyboard.press("/");
      await page.keyboard.type("unknown pool-7-");
      await page.getByText(`4 of ${MACHINES}`).waitFor();
      expect(await rows().count()).toBe(4);
      // All before the next frame.
      await page.evaluate(
        `for (const key of ["Escape", "Home", "j"]) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))`,
      );
      await page.locator('[role=option][aria-selected=true][aria-posinset="2"]').waitFor();
      await page.keyboard.press("k");
      await page.keyboard.press("Enter");
      await page.getByRole("complementary").getByText("What happens next").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("complementary").waitFor({ state: "detached" });
    });

    it("shows drains with what blocks them, and what the deletion budget holds back", async () => {
      const leaving = (index: number, description: string): Machine => {
        const machine = machineAt(index, "Terminating", description);
        return { ...machine, metadata: { ...machine.metadata, deletionTimestamp: "2026-01-01T00:02:00Z" } };
      };
      machines.applyEvent(leaving(1, drainTexts));
      held.add(nameOf(2));
      machines.applyEvent(leaving(2, "Deletion of 40 machines is held"));
      const drains = page.getByRole("region", { name: /^Drains/ });
      await drains.getByText(nameOf(1)).waitFor();
      await drains.getByText("would violate the pod's disruption budget").waitFor();
      const budget = page.getByRole("region", { name: /^Held by the deletion budget/ });
      await budget.getByText(nameOf(2)).waitFor();
      await budget.getByText("Deletion of 40 machines is held").waitFor();
      expect([await drains.getByRole("listitem").count(), await budget.getByRole("listitem").count()]).toEqual([1, 1]);
    });

    it("cuts a megabyte, and shows markup and characters that turn a text around as text", async () => {
      machines.applyEvent(machineAt(3, "Failed", hostile));
      await page
        .getByRole("option")
        .filter({ hasText: nameOf(3) })
        .getByText("<img src=x")
        .waitFor();
      const content = await page.content();
      expect(content).not.toContain("\u202E");
      expect(content).toContain("more characters)");
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.title()).toBe("Millwright");
      const details = await (await fetch(`${dashboard.url}api/machines/ns/${nameOf(3)}`)).text();
      expect(details.length).toBeLessThan(20_000);
      expect(errors).toEqual([]);
    });
  },
);
