/*
 * Requires an installation, whose absence would otherwise cause an error of Node about TypeScript. Plain JavaScript, since the Node that runs it may be an old one.
 * With the name of a package: requires this package, which `npm run setup` leaves out.
 */
import { existsSync } from "node:fs";

const installed = (file) => existsSync(new URL(`../node_modules/${file}`, import.meta.url));
const tool = process.argv[2];

if (!installed(".package-lock.json")) {
  const command = tool === undefined ? "npm run setup" : "npm ci";
  console.error(
    `Nothing is installed yet: run \`${command}\` first. It brings the packages, and the Node that they run on.`,
  );
  process.exitCode = 1;
} else if (tool !== undefined && !installed(`${tool}/package.json`)) {
  console.error(`Only what \`npm start\` needs is installed, without ${tool}: run \`npm ci\` first.`);
  process.exitCode = 1;
}
