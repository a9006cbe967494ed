/** Checks the messages of commits: `npm run commits`. */
import { execFileSync, spawnSync } from "node:child_process";
import { readCommandLine } from "../command-line.ts";
import { messageProblems } from "./message-problems.ts";

/** Messages before this commit are as they are. */
const FIRST = "e5ed5ffcff71";

const { positionals } = readCommandLine({
  usage: `usage: npm run commits [-- BASE]

Checks the messages of the commits after BASE (default: of all since they are checked); status 1 if there are problems.`,
  positionals: [0, 1],
});
const [base = FIRST] = positionals;
const isThere = spawnSync("git", ["merge-base", "--is-ancestor", base, "HEAD"]).status === 0;
if (isThere) {
  const log = execFileSync("git", ["log", "-z", "--format=%h %B", `${base}..HEAD`], { encoding: "utf8" });
  const commits = log.split("\0").filter((commit) => commit !== "");
  const problems = commits.flatMap((commit) => {
    const [, hash = "", message = ""] = /^(\w+) ([^]*)$/.exec(commit) ?? [];
    return messageProblems(message.trimEnd()).map((problem) => `${hash} ${message.split("\n")[0] ?? ""}: ${problem}`);
  });
  for (const problem of problems) console.error(problem);
  console.log(`commit messages: ${commits.length} commits, ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else if (positionals.length > 0) {
  console.error(`commit messages: HEAD does not come after ${base}; fetch it first`);
  process.exitCode = 2;
} else {
  console.log(`commit messages: not checked, as this clone does not reach back to ${base}`);
}
