import { stripVTControlCharacters } from "node:util";
import { machineDeploymentResource, machineResource } from "@millwright/core/machine-api";
import { type ClusterObjects, deploymentReport, readClusterObjects, why } from "@millwright/runtime/reports";
import { lifecycleSteps } from "@millwright/dashboard/rows";
import { paint } from "../../packages/cli/src/commands/top.ts";
import { renderDeployment } from "../../packages/cli/src/describe/render-deployment.ts";
import { createDisplay } from "../../packages/cli/src/dev/display.ts";
import { exampleName } from "../../packages/cli/src/dev/example.ts";
import { viewFleet } from "../../packages/cli/src/dev/fleet.ts";
import { startedMessage } from "../../packages/cli/src/dev/instructions.ts";
import { renderWhy } from "../../packages/cli/src/explain/render-why.ts";
import { outputStyle } from "../../packages/cli/src/terminal/output-style.ts";
import { openScreen } from "../../packages/cli/src/terminal/screen.ts";
import { createSession } from "../../packages/cli/src/top/session.ts";
import { namespace } from "../simulation/world/controller-process.ts";
import type { Recording } from "./recording.ts";
import { recordTerminal, type Stage } from "./stage.ts";

/** Virtual seconds that pass in one of a recording. */
const SPEED = 20;

/** What a viewer needs to read a screen, seconds. */
const READING = 3;

const isSettled = ({ fleet, example }: Stage): boolean => {
  const { spec, status, metadata } = example();
  const machines = fleet.stores.machines.list();
  return (
    status?.observedGeneration === metadata.generation &&
    status?.readyReplicas === spec.replicas &&
    status?.updatedReplicas === spec.replicas &&
    machines.length === spec.replicas
  );
};

/** The table of `npm start`, from the first machine to the end of a rollout, and when the rollout began. */
export async function recordStart(stage: Stage): Promise<{ readonly start: Recording; readonly rolloutFrom: number }> {
  const { fleet, world } = stage;
  let pauses = 0;
  const terminal = recordTerminal(
    { name: "start", title: "npm start", columns: 92, rows: 24 },
    () => stage.seconds() / SPEED + pauses,
  );
  const kubeconfig = "/tmp/millwright/kubeconfig";
  const started = startedMessage("http://127.0.0.1:8080", "http://127.0.0.1:8090", kubeconfig);
  const display = createDisplay({
    output: terminal.output,
    header: [...started.trim().split("\n"), ""],
    help: [],
    clock: world.outside.clock,
    onStop: () => undefined,
  });
  const update = (): void =>
    display.update(viewFleet(fleet.stores.deployments.list(), fleet.stores.machines.list(), world.outside.clock.now()));
  const chapter = async (caption: string, act?: () => Promise<void>): Promise<void> => {
    terminal.caption(caption);
    await act?.();
    let turn = 0;
    await stage.until(
      caption,
      () => isSettled(stage),
      () => (turn++ % 8 === 0 ? update() : undefined),
    );
    update();
    pauses += READING;
  };
  await chapter(`npm start, ${SPEED} times as fast`);
  await chapter("In another terminal: kubectl scale machinedeployment example --replicas=4", () =>
    stage.patchExample({ spec: { replicas: 4 } }),
  );
  const rolloutFrom = stage.seconds();
  await chapter("In another terminal: kubectl patch machinedeployment example …, with another class: a rollout", () =>
    stage.patchExample({ spec: { template: { spec: { class: { name: `${exampleName}-large` } } } } }),
  );
  const start = terminal.recording();
  display.finish();
  return { start, rolloutFrom };
}

/** The output of a command, on a terminal that is as high as it. */
function recordCommand(name: string, command: string, text: string): Recording {
  const output = `$ ${command}\n${text}`;
  const lines = output.trimEnd().split("\n");
  const columns = Math.max(80, ...lines.map((line) => stripVTControlCharacters(line).length));
  const terminal = recordTerminal({ name, title: command, columns, rows: lines.length }, () => 0);
  terminal.output.write(output.trimEnd());
  return terminal.recording();
}

/** Objects as `millwright why` reads them. */
const readObjects = ({ user }: Stage): Promise<ClusterObjects> =>
  readClusterObjects({ control: user, target: user, namespace, signal: new AbortController().signal });

const layoutOf = ({ world }: Stage) => ({ ...outputStyle(), width: 80, now: world.outside.clock.now() });

/** What `millwright why` prints about the example. */
export async function recordWhy(stage: Stage): Promise<Recording> {
  const subject = { kind: machineDeploymentResource.kind, name: exampleName } as const;
  const work = readObjects(stage).then((objects) => why(subject, objects, stage.world.outside.clock.now()));
  return recordCommand(
    "why",
    `millwright why mcd/${exampleName}`,
    renderWhy(await stage.during(work), layoutOf(stage)),
  );
}

/** What `millwright describe` prints about the example. */
export async function recordDescribe(stage: Stage): Promise<Recording> {
  const work = readObjects(stage).then((objects) =>
    deploymentReport(exampleName, objects, stage.world.outside.clock.now()),
  );
  const text = renderDeployment(await stage.during(work), layoutOf(stage));
  return recordCommand("describe", `millwright describe deployment ${exampleName}`, text);
}

/** `millwright top`: the machines, then the reason for the first one. */
export async function recordTop(stage: Stage): Promise<Recording> {
  const { fleet, world } = stage;
  const [columns, rows] = [100, 20];
  let moment = 0;
  const terminal = recordTerminal({ name: "top", title: "millwright top", columns, rows }, () => moment);
  const screen = openScreen(terminal.output, () => undefined);
  const { clock } = world.outside;
  const session = createSession({
    where: `namespace ${namespace}`,
    hasAllNamespaces: false,
    filter: "",
    steps: lifecycleSteps,
    fleet,
    async explain({ name }, width) {
      const report = await why({ kind: machineResource.kind, name }, await readObjects(stage), clock.now());
      return renderWhy(report, { now: clock.now(), width, paint: (_, text) => text }).split("\n");
    },
    lostForMs: () => 0,
    size: screen.size,
    paint,
    clock,
    now: clock.now,
    draw: screen.draw,
    quit: () => undefined,
  });
  terminal.caption("millwright top");
  session.redraw();
  for (const key of ["enter", "escape"]) {
    moment += READING;
    terminal.caption(`millwright top, after the key ${key}`);
    session.press(key);
    await stage.pass(1);
  }
  const recording = terminal.recording();
  screen.close();
  return recording;
}
