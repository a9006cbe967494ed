#!/usr/bin/env node
import { main } from "./main.ts";

const { status, output, errors } = await main(process.argv.slice(2), process.cwd());
process.stdout.write(output);
process.stderr.write(errors);
process.exitCode = status;
