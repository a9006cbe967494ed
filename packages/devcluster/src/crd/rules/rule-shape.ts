import type { ASTNode } from "@marcbachmann/cel-js";

const loops: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter"]);

/** The properties of an expression that its cost is estimated by. */
export interface Shape {
  readonly nodes: number;
  readonly depth: number;
  readonly usesOldSelf: boolean;
}

/** Measures an expression. */
export function measure(node: ASTNode, depth: number): Shape {
  const isLoop = node.op === "rcall" && loops.has(node.args[0]);
  const inner = isLoop ? depth + 1 : depth;
  let shape: Shape = { nodes: 1, depth: inner, usesOldSelf: node.op === "id" && node.args === "oldSelf" };
  for (const child of childrenOf(node.args)) {
    const next = measure(child, inner);
    shape = {
      nodes: shape.nodes + next.nodes,
      depth: Math.max(shape.depth, next.depth),
      usesOldSelf: shape.usesOldSelf || next.usesOldSelf,
    };
  }
  return shape;
}

/** The nodes among the arguments of a node. */
export function childrenOf(args: unknown): readonly ASTNode[] {
  if (isNode(args)) return [args];
  return Array.isArray(args) ? args.flatMap(childrenOf) : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value && "pos" in value;
}
