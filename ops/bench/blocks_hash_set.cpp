// A plain breadth-first search of sliding blocks in RAM, in steps: every state in one open-addressing
// hash set, 4 bits a cell that tell the kind of the piece with its first cell there, one core.
//   blocks_hash_set PUZZLE DEPTH LOG2_SLOTS
// The file PUZZLE has numbers: height, width; how many walls, and their cells; how many kinds, and of
// each how many cells with y and x of each from the first one, how many pieces, and their first cells.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

using Key = unsigned __int128;
using Cells = std::uint32_t;

struct HashSet {  // linear probing; no state is 0, so it marks a free slot
    std::vector<Key> slots;
    int shift;
    std::uint64_t mask;

    explicit HashSet(int log2) : slots(std::size_t(1) << log2, 0), shift(64 - log2), mask(slots.size() - 1) {}

    bool insert(Key key) {
        std::uint64_t at = std::uint64_t(key) * 0x9E3779B97F4A7C15u;
        at = (at ^ at >> 32 ^ std::uint64_t(key >> 64)) * 0xC2B2AE3D27D4EB4Fu >> shift;
        while (slots[at] != 0) {
            if (slots[at] == key) return false;
            at = (at + 1) & mask;
        }
        slots[at] = key;
        return true;
    }
};

struct Place {  // a piece of a kind with its first cell somewhere: what it covers, and its steps
    Cells body = 0;
    bool legal = false;
    int steps = 0;
    int target[4];
    Cells need[4];  // the cells that have to be empty
};

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    std::ifstream file(argv[1]);
    const auto number = [&] { int n = 0; file >> n; return n; };
    const int height = number(), width = number(), cells = height * width;
    if (cells < 1 || cells > 32) return 2;
    Cells walls = 0;
    for (int n = number(); n > 0; --n) walls |= Cells(1) << number();
    const int kinds = number();
    if (kinds < 1 || kinds > 15) return 2;
    std::vector<Place> places(kinds * cells);
    Key start = 0;
    for (int kind = 0; kind < kinds; ++kind) {
        std::vector<std::pair<int, int>> shape(number());
        for (auto& [y, x] : shape) { y = number(); x = number(); }
        Place* const of_kind = &places[kind * cells];
        for (int cell = 0; cell < cells; ++cell) {
            Place& place = of_kind[cell];
            place.legal = true;
            for (const auto& [dy, dx] : shape) {
                const int y = cell / width + dy, x = cell % width + dx;
                if (y < 0 || y >= height || x < 0 || x >= width) place.legal = false;
                else place.body |= Cells(1) << (y * width + x);
            }
            if (place.body & walls) place.legal = false;
        }
        for (int cell = 0; cell < cells; ++cell) {
            Place& place = of_kind[cell];
            const int row = cell / width, column = cell % width;
            const auto step = [&](int to) {
                if (!place.legal || !of_kind[to].legal) return;
                place.target[place.steps] = to;
                place.need[place.steps++] = of_kind[to].body & ~place.body;
            };
            if (row > 0) step(cell - width);
            if (row + 1 < height) step(cell + width);
            if (column > 0) step(cell - 1);
            if (column + 1 < width) step(cell + 1);
        }
        for (int n = number(); n > 0; --n) start |= Key(kind + 1) << (4 * number());
    }
    if (!file) return 2;
    const int last = std::atoi(argv[2]);
    HashSet seen(std::atoi(argv[3]));
    std::vector<Key> layer{start}, next;
    seen.insert(start);
    std::size_t states = 1;
    std::printf("[[0, 1, 0.0]");
    for (int depth = 1; depth <= last; ++depth) {
        const auto begun = std::chrono::steady_clock::now();
        next.clear();
        for (const Key key : layer) {
            const Place* piece[32];
            int home[32], kind[32], pieces = 0;
            Cells covered = walls;
            for (int cell = 0; cell < cells; ++cell) {
                const int code = int(key >> (4 * cell)) & 15;
                if (code == 0) continue;
                piece[pieces] = &places[(code - 1) * cells + cell];
                covered |= piece[pieces]->body;
                home[pieces] = cell;
                kind[pieces++] = code;
            }
            for (int i = 0; i < pieces; ++i)
                for (int j = 0; j < piece[i]->steps; ++j) {
                    if (covered & piece[i]->need[j]) continue;
                    const Key code = Key(kind[i]);
                    const Key child = key ^ code << (4 * home[i]) ^ code << (4 * piece[i]->target[j]);
                    if (seen.insert(child)) next.push_back(child);
                }
        }
        std::swap(layer, next);
        states += layer.size();
        if (states > seen.mask / 10 * 9) return 3;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        std::printf(", [%d, %zu, %.6f]", depth, layer.size(), took.count());
    }
    std::printf("]\n");
    return 0;
}
