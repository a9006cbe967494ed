import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type DriverContext, MachineError } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import { type LaunchedVm, qemuArguments, systemProgram, vmFiles } from "./arguments.ts";
import { missingProgram } from "./programs.ts";
import { runQmp } from "./qmp.ts";
import { launchError } from "./launch-error.ts";

const pollMs = 50;

/** How a process ended before it served its socket. */
type Ended = { readonly error: unknown } | { readonly status: string };

/**
 * Starts the process of a VM, and waits until the VM runs. The process continues when this one ends. When the signal aborts, it is left to start: the next call finds it, or deletes its folder.
 *
 * @param program the QEMU program, for tests
 * @throws MachineError that explains why QEMU does not start
 */
export async function startProcess(vm: LaunchedVm, context: DriverContext, program = systemProgram): Promise<void> {
  const { signal, clock } = context;
  const logFile = join(vm.folder, vmFiles.log);
  const log = await open(logFile, "a", 0o600);
  const outcome: { ended?: Ended } = {};
  try {
    // A process group of its own, so that Ctrl-C does not end VMs, and no variables with credentials.
    const child = spawn(program, qemuArguments(vm), {
      cwd: "/",
      detached: true,
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", log.fd, log.fd],
    });
    child.on("error", (error) => (outcome.ended = { error }));
    child.on("exit", (code, name) => (outcome.ended = { status: name ?? `status ${code}` }));
    child.unref();
  } finally {
    await log.close();
  }
  for (;;) {
    if (outcome.ended !== undefined) throw await failureOf(outcome.ended, logFile, vm, program);
    try {
      const status = await runQmp(join(vm.folder, vmFiles.socket), "query-status", signal);
      if (fieldOf(status, "running") === true) return;
    } catch {
      // QEMU does not listen yet, or has ended.
      signal.throwIfAborted();
    }
    await clock.sleep(pollMs, signal);
  }
}

async function failureOf(ended: Ended, logFile: string, vm: LaunchedVm, program: string): Promise<MachineError> {
  if ("error" in ended) return missingProgram(program, ended.error);
  const log = await readFile(logFile, "utf8").catch(() => "");
  return launchError(log, ended.status, vm.spec);
}
