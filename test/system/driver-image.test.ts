import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createDriver } from "create-millwright-driver";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stageImage } from "../../tools/images/stage-image.ts";
import { type LocalRegistry, startLocalRegistry } from "../../tools/local-registry.ts";
import { driverPackages } from "../../tools/registry/driver-packages.ts";
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

/** Builds an image without an engine for containers: absolute paths of a stage are in a folder of its own, and commands run on this computer. Resolves with the folder of the last stage. */
async function build(context: string, base: string): Promise<string> {
  const env = {
    ...process.env,
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, "cache"),
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_noproxy: "127.0.0.1",
  };
  const stages = new Map<string, string>();
  let [stage, cwd] = ["", ""];
  const shell = (command: string): Promise<unknown> => run("bash", ["-euc", command], { cwd, env });
  const at = (text: string): string => text.replaceAll(/(?<= |^)\/(?=(?:app|tmp|driver)\b)/g, `${stage}/`);
  for (const line of (await readFile(join(context, "Containerfile"), "utf8")).split("\n")) {
    const [instruction = "", ...words] = line.split(" ");
    const rest = words.join(" ");
    if (instruction === "FROM") {
      const [image, , title = "last"] = words;
      stage = join(folder, `stage-${title}`);
      await mkdir(join(stage, "tmp"), { recursive: true });
      if (image === "${MILLWRIGHT}") await cp(base, stage, { recursive: true, verbatimSymlinks: true });
      stages.set(title, stage);
      cwd = stage;
    } else if (instruction === "WORKDIR") await mkdir((cwd = at(rest)), { recursive: true });
    else if (instruction === "COPY" && rest === ". .") {
      const ignored = (await readFile(join(context, ".dockerignore"), "utf8"))
        .split("\n")
        .filter((each) => each !== "");
      const filter = (path: string): boolean => !ignored.some((each) => `${path}/` === join(context, each));
      await cp(context, cwd, { recursive: true, filter });
    } else if (instruction === "COPY") {
      const [from = "", source = "", target = ""] = words;
      await shell(`cp ${stages.get(from.replace("--from=", "")) ?? ""}${source} ${at(target)}`);
    }
    // The registry has the optional packages of this platform only, which `npm ci` does not accept.
    else if (instruction === "RUN") await shell(at(rest).replace("npm ci", "npm install"));
  }
  return stage;
}

it("builds the image of a scaffolded driver from that of the command, which the chart runs with its values", async () => {
  const staged = join(folder, "staged");
  await stageImage(["mock"], staged);
  const context = join(folder, "tiny");
  await createDriver(name, context);
  const npm = ["install", "--no-audit", "--no-fund", `--registry=${registry.url}`, `--cache=${join(folder, "cache")}`];
  await run("npm", npm, { cwd: context });
  const image = await build(context, staged);
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
  const vms = join(folder, "vms");
  await mkdir(vms);
  const bin = join(image, "app/node_modules/@millwright/cli/dist/bin.js");
  controllers = startProgram("image", process.execPath, [bin, ...args], { NODE_OPTIONS: "" });
  const classOf = {
    ...machineClass("small"),
    provider: "tiny",
    providerSpec: { folder: vms, cluster: "test", size: "small" },
  };
  await installation.api.create(machineClassResource, classOf);
  await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
  await eventually(async () => expect(await readdir(vms)).toHaveLength(2), 60_000);
}, 400_000);
