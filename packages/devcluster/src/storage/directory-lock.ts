import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@millwright/base";

const lockName = "lock";

/** A directory that this process owns until it releases it. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Locks a directory for this process, by a file with its process ID and start time. The lock of a process that has ended is
 * taken over, even when another process has its ID by now. Throws ConfigError when the directory is in use or not writable.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, lockName);
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(path, `${process.pid} ${startOf(process.pid) ?? "-"}`, { flag: "wx", mode: 0o600 });
      return { release: () => rmSync(path, { force: true }) };
    } catch (error) {
      if (attempt > 0 || !existsSync(path)) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new ConfigError(
          `data directory ${directory}: cannot be written (${reason}); choose one that is writable`,
          {
            cause: error,
          },
        );
      }
    }
    const [pid = "", start = "-"] = readFileSync(path, "utf8").split(" ");
    if (isAlive(Number(pid), start)) {
      throw new ConfigError(
        `data directory ${directory}: in use by process ${pid}; stop it or choose another directory`,
      );
    }
    rmSync(path, { force: true });
  }
}

function isAlive(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  const now = startOf(pid);
  // A zombie process still accepts signals; it has no start time here.
  return start === "-" || !existsSync("/proc/self/stat") || now === start;
}

/** The start time of a process in the kernel's ticks; undefined without /proc, and for processes that have ended. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name in parentheses may contain anything; the rest has a fixed format: state, 18 more fields, start time.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : fields[18];
  } catch {
    return undefined;
  }
}
