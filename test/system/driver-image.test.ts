import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createDriver } from "create-millwright-driver";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { startDataCenter } from "../../packages/create-driver/template/test/data-center.ts";
import { stageImage } from "../../tools/images/stage-image.ts";
import { type LocalRegistry, startLocalRegistry } from "../../tools/local-registry.ts";
import { driverPackages } from "../../tools/registry/driver-packages.ts";
import { buildImage } from "../harness/containers/build-image.ts";
import { imageOf } from "../harness/containers/image-store.ts";
import { eventually } from "../harness/eventually.ts";
import { createHelm } from "../harness/foreign-tools.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { renderChart } from "../harness/rendered-chart.ts";

const run = promisify(execFile);
const name = "@acme/tiny";

let folder: string;
let registry: LocalRegistry;
let installation: Installation;
let controllers: Program | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-driver-image-"));
  registry = await startLocalRegistry([
    ...(await driverPackages()),
    "@millwright/tracing",
    "@millwright/provider-mock",
  ]);
  installation = await startInstallation();
}, 400_000);
afterAll(async () => {
  await controllers?.stop("SIGKILL");
  await installation.close();
  await registry.close();
  await rm(folder, { recursive: true, force: true });
});

it("builds the image of a scaffolded driver from that of the command, which the chart runs with its values", async () => {
  const staged = join(folder, "staged");
  await stageImage(["mock"], staged);
  const context = join(folder, "tiny");
  await createDriver(name, context);
  const npm = ["install", "--no-audit", "--no-fund", `--registry=${registry.url}`, `--cache=${join(folder, "cache")}`];
  await run("npm", npm, { cwd: context });
  const { root: image } = await buildImage(context, {
    folder,
    args: { MILLWRIGHT: "released" },
    base: async (from) => (from === "released" ? imageOf(staged) : undefined),
    env: () => ({
      ...process.env,
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, "cache"),
      npm_config_userconfig: join(folder, "npmrc"),
      npm_config_noproxy: "127.0.0.1",
    }),
  });
  // It is added to what is there.
  const listed = async (app: string): Promise<readonly string[]> =>
    (await readdir(join(app, "app/node_modules"))).filter((each) => !each.startsWith(".")).toSorted();
  expect(await listed(image)).toEqual([...(await listed(staged)), "@acme"].toSorted());

  const helm = await createHelm(join(folder, "none"));
  const { container } = await renderChart(helm, ["--values", join(context, "chart-values.yaml")]);
  expect(container().image).toBe("registry.example/tiny:0.1.0");
  const args = container().args.map((arg) =>
    arg.replace("inClusterConfig", installation.controllersKubeconfig).replace(/^--port=.*/, "--no-leader-elect"),
  );
  expect(args).toContain(`--provider=${name}`);
  const bin = join(image, "app/node_modules/@millwright/cli/dist/bin.js");
  controllers = startProgram("image", process.execPath, [bin, ...args], { NODE_OPTIONS: "" });
  const { url, vms, close } = await startDataCenter("first-token");
  onTestFinished(close);
  const metadata = { name: "tiny", namespace: "default" };
  const data = { token: btoa("first-token"), userData: btoa("boot") };
  await installation.api.create(secretResource, { metadata, data });
  const classOf = {
    ...machineClass("small"),
    provider: "tiny",
    providerSpec: { endpoint: url, cluster: "test", size: "small" },
    secretRef: metadata,
  };
  await installation.api.create(machineClassResource, classOf);
  await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
  await eventually(async () => expect(vms.size).toBe(2), 60_000);
}, 400_000);
