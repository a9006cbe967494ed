import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { startProgram } from "./program.ts";

/** A shell in a folder, in which nothing of this repository is on the path. Variables that a command exports are there in the next one. */
export interface ReaderShell {
  /** Runs a command of a page; rejects when it fails. Resolves with what it printed. */
  run(command: string): Promise<string>;
}

/** Opens a shell whose programs are, before those of this computer, scripts of bash by name; then those that npm installs globally. */
export async function openShell(
  folder: string,
  programs: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
): Promise<ReaderShell> {
  const bin = join(folder, "programs");
  await mkdir(bin);
  for (const [name, script] of Object.entries(programs))
    await writeFile(join(bin, name), `#!/usr/bin/env bash\n${script}\n`, { mode: 0o755 });
  const rest = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
  let env: Record<string, string> = {
    PATH: [bin, join(folder, "npm/bin"), ...rest].join(delimiter),
    HOME: folder,
    npm_config_prefix: join(folder, "npm"),
    ...variables,
  };
  return {
    async run(command) {
      const program = startProgram(command, "env", [
        "-i",
        ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        "bash",
        "-c",
        `cd '${folder}' && set -eo pipefail && ${command}`,
      ]);
      const status = await program.ended;
      if (status !== 0) throw new Error(`${command} ended with ${status}:\n${program.output()}`);
      const [, assignments] = /^export (.*)$/.exec(command) ?? [];
      for (const [, name = "", value = ""] of (assignments ?? "").matchAll(/(\w+)=(\S+)/g))
        env = { ...env, [name]: value.replaceAll(/\$(\w+)/g, (_, other: string) => env[other] ?? "") };
      return program.output();
    },
  };
}
