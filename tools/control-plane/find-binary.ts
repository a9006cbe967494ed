import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { builtBinary, type BuildOptions, type Program } from "./build-binary.ts";
import { CannotBuildError } from "./cannot-build-error.ts";

/**
 * The path of a program of the control plane: out of the folder `KUBEBUILDER_ASSETS` when that is set (the convention of
 * Kubernetes' envtest), else built. A folder that is set and does not hold the program is an error, not a reason to build.
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
  return path;
}
