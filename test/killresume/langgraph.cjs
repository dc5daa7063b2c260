// One thread per task in a graph with a node per line and a last one that checks and commits. What was interrupted goes on from its last
// checkpoint. Arguments: the program with the acts, the record, the database, a file with a task per line, as "number<tab>text", how many
// lines the file of a task has, and how many milliseconds an agent thinks before each.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const { StateGraph, Annotation, START, END } = require("@langchain/langgraph");
const { SqliteSaver } = require("@langchain/langgraph-checkpoint-sqlite");

const [exe, record, database, list] = process.argv.slice(1);
const [lines, think] = process.argv.slice(5).map(Number);

const add = (kind, task) =>
  fs.appendFileSync(record + "/events.jsonl", JSON.stringify({ at: Number(process.hrtime.bigint()), kind, task, pid: process.pid }) + "\n");
const file = (task) => `part/${task}.txt`;
const content = (task, n) => Array.from({ length: n }, (_, k) => `task ${task} line ${k + 1} of ${lines}\n`).join("");

// write writes a line, unless it is there: a node may run again after it was interrupted.
const write = (n) => async ({ task }) => {
  fs.mkdirSync("part", { recursive: true });
  if (fs.existsSync(file(task)) && fs.readFileSync(file(task), "utf8").startsWith(content(task, n))) return { line: n };
  await new Promise((resolve) => setTimeout(resolve, think));
  fs.writeFileSync(file(task), content(task, n));
  add("stepped", task);
  return { line: n };
};
const finish = async ({ task, text }) => {
  add("ended", task);
  execFileSync(exe, ["finish", record], { input: text, stdio: ["pipe", "inherit", "inherit"] });
  return { finished: true };
};

const State = Annotation.Root({ task: Annotation, text: Annotation, line: Annotation, finished: Annotation });
const graph = new StateGraph(State);
const retryPolicy = { maxAttempts: 3 };
let last = START;
for (let n = 1; n <= lines; n++) {
  graph.addNode("line" + n, write(n), { retryPolicy }).addEdge(last, "line" + n);
  last = "line" + n;
}
graph.addNode("finish", finish, { retryPolicy }).addEdge(last, "finish").addEdge("finish", END);
const app = graph.compile({ checkpointer: SqliteSaver.fromConnString(database) });

(async () => {
  for (const row of fs.readFileSync(list, "utf8").trim().split("\n")) {
    const [task, text] = [Number(row.split("\t")[0]), row.split("\t")[1]];
    const config = { configurable: { thread_id: String(task) }, durability: "sync" };
    const before = await app.getState(config);
    if (!before.values.finished) {
      add("begun", task);
      await app.invoke(before.next.length > 0 ? null : { task, text }, config);
    }
    console.log("done", task);
  }
})();
