"""Clusters of instances that sleep while they would only repeat themselves: release builds let them, debug builds do not."""

def test_sleeping_clusters_change_nothing(build_sim, run_sim, tmp_path):
    machine = """
        module lane {
          runtime parameter script = "" : string;
          instance s : source { interval = 40; };  instance q : queue { depth = 3; };
          instance p[3] : pipe;  instance k : sink;
          s.script = script;
          s.out -> q.in : uint32;  q.out -> p[0].in;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> k.in;
        }
        module taker { instance p[3] : pipe;  instance k : sink;  inport in : uint32;
          in -> p[0].in;  p[0].out -> p[1].in;  p[1].out -> p[2].in;  p[2].out -> k.in; }
        instance busy : source;  instance last : sink;  instance mid : pipe;
        busy.out -> mid.in : uint32;  mid.out -> last.in;
        instance lanes[3] : lane;
        instance feed[2] : source { interval = 25; };
        instance takers[2] : taker;
        for (i = 0; i < 2; i = i + 1) { feed[i].out -> takers[i].in : uint32; }
        """
    script = tmp_path / "script.txt"
    script.write_text("".join(f"{cycle} {cycle}\n" for cycle in (3, 4, 90, 91, 92, 300, 777, 778)))
    results = []
    for options in ([], ["--debug"], ["--single-function"]):
        simulator = build_sim(machine, *options)
        done = run_sim(
            simulator,
            *("--cycles", "1000", "--set", f"lanes[1].script={script}", "--set", "lanes[2].k.ready=0.2"),
            *("--set", "takers[1].k.ready=0.5", "--set", "feed[1].offer=0.3", "--seed", "5"),
        )
        results.append(done.stats["statistics"])
    assert results[0] == results[1] == results[2]
    assert done.value("lanes[1].k", "items") == 8


def test_processors_that_wait_sleep_and_change_nothing(build_sim, run_sim):
    machine = """
        import memory_types;
        module waiter {                        // with state that is small, state that is large, and delays
          outport memory : mem(32);
          instance s : memory_source { width = 32; };  instance w : cache { fill_width = 32; line = 32; sets = 64; ways = 2; };
          s.memory -> w.in;  w.memory -> memory;
          s.interval = 30;
          instance t : memory_source;  instance d : memory_delay { latency = 9; };  instance l : memory_state { size = 4 KiB; };
          t.memory -> d.in;  d.out -> l.port;
          t.interval = 11;
          t.offer = 0.9;
          t.generate = <<<
            return (typeof_port(memory_request)){.op = random & 1 ? mem_op_write : mem_op_read, .size = 8, .address = (uint32_t)(random >> 8 & 0xff8), .data = random};
          >>>;
        }
        instance both : memory_arbiter { width = 32; };  instance slow : memory_delay { width = 32; latency = 37; };
        instance bytes : memory_state { width = 32; size = 64 KiB; };
        instance w[2] : waiter;
        for (i = 0; i < 2; i = i + 1) { w[i].memory -> both.in; }
        both.out -> slow.in;  slow.out -> bytes.port;
        """
    runs = [
        run_sim(build_sim(machine, *options), "--cycles", "20000", "--seed", "3").stats["statistics"]
        for options in ([], ["--debug"], ["--single-function"])
    ]
    assert runs[0] == runs[1] == runs[2]
