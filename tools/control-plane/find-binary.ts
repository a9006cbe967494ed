import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { builtBinary, type BuildOptions, type Program } from "./build-binary.ts";
import { CannotBuildError } from "./cannot-build-error.ts";
import { versionOf } from "./versions.ts";

/** Timeout for printing a version, milliseconds. */
const VERSION_LIMIT_MS = 30_000;
/** Older versions lack features that kube-apiserver needs. */
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
  const { output, version } = await printedVersion(path);
  const fault = versionFault(program, version);
  if (fault !== undefined) {
    throw new CannotBuildError(
      `KUBEBUILDER_ASSETS is ${assets}, whose ${program} reports version "${output}"; ${fault}`,
    );
  }
  return path;
}

async function printedVersion(
  path: string,
): Promise<{ readonly output: string; readonly version: string | undefined }> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: VERSION_LIMIT_MS });
    const [output = ""] = stdout.split("\n");
    const version = /\bv?(\d+\.\d+)\.\d+/.exec(output)?.[1];
    return { output, version: version === undefined ? undefined : `v${version}` };
  } catch (error) {
    return { output: error instanceof Error ? error.message : String(error), version: undefined };
  }
}

/** What is wrong with a minor version, `v1.35`; undefined when nothing is. */
export function versionFault(program: Program, version: string | undefined): string | undefined {
  if (program === "etcd") {
    const isNew = version !== undefined && version.localeCompare(OLDEST_ETCD, "en", { numeric: true }) >= 0;
    return isNew ? undefined : `${OLDEST_ETCD} or newer is needed`;
  }
  const needed = versionOf("kubernetes").split(".").slice(0, 2).join(".");
  // Responses are compared verbatim, and messages change with each minor version.
  return version === needed ? undefined : `${needed} is needed`;
}
