import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { builtBinary, type BuildOptions, type Program } from "./build-binary.ts";
import { CannotBuildError } from "./cannot-build-error.ts";
import { versionOf } from "./versions.ts";

/** How long a program gets to say its version, milliseconds. */
const VERSION_LIMIT_MS = 30_000;
/** Older ones do not have what kube-apiserver asks of them. */
const OLDEST_ETCD = "v3.5";

/**
 * The path of a program of the control plane: out of the folder `KUBEBUILDER_ASSETS` when that is set (the convention of
 * Kubernetes' envtest), else built. A folder that is set and does not hold the program, or holds it in a version that the tests
 * were not written for, is an error and not a reason to build.
 */
export async function findBinary(
  program: Program,
  options: BuildOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const assets = env["KUBEBUILDER_ASSETS"];
  if (assets === undefined || assets === "") return builtBinary(program, options);
  const path = join(assets, program);
  await access(path, constants.X_OK).catch((error: unknown) => {
    throw new CannotBuildError(`KUBEBUILDER_ASSETS is ${assets}, which holds no executable ${program}`, {
      cause: error,
    });
  });
  const { said, version } = await versionSaidBy(path);
  const fault = versionFault(program, version);
  if (fault !== undefined) {
    throw new CannotBuildError(`KUBEBUILDER_ASSETS is ${assets}, whose ${program} says "${said}"; ${fault}`);
  }
  return path;
}

async function versionSaidBy(path: string): Promise<{ readonly said: string; readonly version: string | undefined }> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: VERSION_LIMIT_MS });
    const [said = ""] = stdout.split("\n");
    const version = /\bv?(\d+\.\d+)\.\d+/.exec(said)?.[1];
    return { said, version: version === undefined ? undefined : `v${version}` };
  } catch (error) {
    return { said: error instanceof Error ? error.message : String(error), version: undefined };
  }
}

/** What is wrong with a minor version, `v1.35`; undefined when nothing is. */
export function versionFault(program: Program, version: string | undefined): string | undefined {
  if (program === "etcd") {
    const isNew = version !== undefined && version.localeCompare(OLDEST_ETCD, "en", { numeric: true }) >= 0;
    return isNew ? undefined : `${OLDEST_ETCD} or newer is needed`;
  }
  const needed = versionOf("kubernetes").split(".").slice(0, 2).join(".");
  // Answers are compared word by word, and words change with each minor version.
  return version === needed ? undefined : `${needed} is needed`;
}
