import { type Clock, MachineError } from "@millwright/core";
import type { Environment } from "@millwright/core/egress";
import { toMachineError } from "./errors.ts";
import { createMetadataServer } from "./metadata-server.ts";

/**
 * Creates the question for the project that this process runs in, which the metadata server answers. It is asked until it has answered once: a process does not move.
 *
 * @returns throws MachineError, which names the remedy
 */
export function createOwnProject(clock: Clock, env: Environment): (signal: AbortSignal) => Promise<string> {
  let known: string | undefined;
  return async (signal) => {
    try {
      return (known ??= await createMetadataServer(clock, env).projectId(signal));
    } catch (error) {
      if (signal.aborted) throw error;
      const { code, message } = toMachineError(error, signal, "reading the project of the controller's environment");
      throw new MachineError(code, `${message}; or set "projectID" in the class secret`, { cause: error });
    }
  };
}
