#include "gpu/sass.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

namespace sagekit {

namespace {

using Body = KernelResources::Body;

constexpr std::uint64_t k_size = 16;  // of an instruction
constexpr Capability k_first{7, 0}, k_last{12, 9}, k_split_offsets{9, 0};

/// One instruction: bits 0-11 are the operation, 12-14 the predicate that guards it (7 = always), 15 negates that;
/// 105-127 are for scheduling.
struct Instruction {
  std::uint64_t low = 0, high = 0;

  std::uint32_t operation() const { return low & 0xfff; }
  /// The operation without the three bits that say in which form its operands come.
  std::uint32_t base() const { return low & 0x1ff; }
  std::uint32_t guard() const { return low >> 12 & 0xf; }
  bool always() const { return guard() == 7; }
  bool never() const { return guard() == 15; }
  std::uint32_t target_register() const { return low >> 16 & 0xff; }
  /// Bits 82-104: the modifiers of branches, exits and traps, behind the jump distance.
  std::uint32_t modifiers() const { return high >> 18 & 0x7fffff; }
};

namespace op {
constexpr std::uint32_t store_local = 0x387, load_local = 0x983, no_operation = 0x918, exit = 0x94d, branch = 0x947,
                        uniform_branch = 0x547, trap = 0x95c, sync_stack_push = 0x945, call = 0x944, ret = 0x950,
                        move = 0xa02, move_multiply = 0x624, load_constant = 0xb82;
// Bases of the two ranges that matter for what a kernel can do: flow of control, and memory.
constexpr std::uint32_t flow_begin = 0x140, flow_end = 0x160, memory_begin = 0x180, memory_end = 0x1c0;
}  // namespace op

constexpr std::uint32_t k_plain = 0xe0;  // modifiers of an unconditional branch or exit: predicate operand "true"
constexpr std::uint32_t k_trap_kind = 0x0c;

Instruction instruction_at(const char* code) {
  static_assert(std::endian::native == std::endian::little);
  Instruction one;
  std::memcpy(&one.low, code, 8);
  std::memcpy(&one.high, code + 8, 8);
  return one;
}

/// An unconditional branch to itself: every function ends with one.
bool is_endless(const Instruction& one) {
  const std::uint64_t distance = one.low >> 16;
  return one.always() && one.modifiers() == k_plain && (one.high & 0x3ffff) == 0x3ffff &&
         (distance == 0xffff'fff0'0000 || distance == 0xffff'fffc'00fc);
}

std::uint64_t access_width(const Instruction& one) {
  static constexpr std::array<std::uint8_t, 8> widths = {1, 1, 2, 2, 4, 8, 16, 0};  // U8 S8 U16 S16 32 64 128
  return widths[one.high >> 9 & 7];
}

/// Does it set up the stack pointer (register 1), as the first instruction of most kernels does?
bool sets_stack(const Instruction& one) {
  return one.target_register() == 1 &&
         (one.operation() == op::move || one.operation() == op::move_multiply || one.operation() == op::load_constant);
}

/// What an instruction can do besides computing in registers, as far as a body that does nothing is concerned.
enum class Effect {
  none,
  stores,   ///< or may: memory that outlives the kernel
  calls,    ///< a function; control comes back behind it
  unknown,  ///< flow of control that cannot be followed
};

/// Does it multiply matrices on the tensor cores? By base, in every form of its operands.
bool is_mma(std::uint32_t base) {
  switch (base) {
    case 0x037:  // IMMA
    case 0x03c:  // HMMA
    case 0x03d:  // BMMA
    case 0x03f:  // DMMA
    case 0x07a:  // QMMA: FP8, from 8.9 on
    case 0x07f:  // OMMA: FP4, 12.x
    case 0x1ea:  // UTCHMMA, UTCQMMA, UTCIMMA, UTCOMMA: 10.x
    case 0x1f0:  // HGMMA: 9.0a, as the three below
    case 0x1f1:  // IGMMA
    case 0x1f2:  // BGMMA
    case 0x1f3:  // QGMMA
      return true;
    default: return false;
  }
}

bool memory_is_own(std::uint32_t base) {
  switch (base) {
    case 0x180:  // LD
    case 0x181:  // LDG
    case 0x182:  // LDC
    case 0x183:  // LDL
    case 0x184:  // LDS
    case 0x187:  // STL
    case 0x188:  // STS
    case 0x189:  // SHFL
    case 0x18c:  // ATOMS
    case 0x18d:  // ATOMS with compare
    case 0x1ac:  // LDCU
    case 0x1ae:  // LDGSTS
    case 0x1af:  // LDGDEPBAR
      return true;
    default: return false;
  }
}

Effect effect_of(const Instruction& one) {
  const std::uint32_t base = one.base();
  if (base >= op::memory_begin && base < op::memory_end) return memory_is_own(base) ? Effect::none : Effect::stores;
  if (base < op::flow_begin || base >= op::flow_end) return Effect::none;
  switch (base) {
    case 0x143:  // CALL to an address in registers or a bank
    case 0x144:  // CALL to a place in this section
      return Effect::calls;
    case 0x141:  // BSYNC: waits, goes on behind it or where the stack was pushed
    case 0x142:  // BREAK
    case 0x145:  // BSSY
    case 0x146:  // YIELD
    case 0x147:  // BRA
    case 0x148:  // WARPSYNC
    case 0x14d:  // EXIT
    case 0x14e:  // LEPC
    case 0x150:  // RET
    case 0x151:  // BMOV
    case 0x152:  // RPCMOV
    case 0x155:  // BMOV
    case 0x156:  // BMOV
    case 0x15c:  // BPT
    case 0x15d:  // NANOSLEEP
      return Effect::none;
    default: return Effect::unknown;
  }
}

/// Follows the flow of control from a kernel's first instruction.
class BodyReader {
 public:
  BodyReader(Bytes code, Capability capability)
      : m_code(code), m_count(code.size() / k_size), m_split(capability >= k_split_offsets) {}

  /// A trap kernel can reach a trap, and nothing it can do before one outlives it: no store to memory of others, no
  /// call from which it could come back to an exit, no jump that cannot be followed. Leaving early is allowed.
  bool is_trap() {
    m_state.assign(static_cast<std::size_t>(m_count), 0);
    enter(0, k_seen);
    while (!m_queue.empty() && m_plain) {
      const std::uint64_t at = m_queue.back();
      m_queue.pop_back();
      step(at);
    }
    return m_plain && m_traps;
  }

 private:
  static constexpr std::uint8_t k_seen = 1, k_after_call = 2;

  /// Every place is entered at most twice: as such, and as one behind a call.
  void enter(std::uint64_t at, std::uint8_t how) {
    if (at >= m_count) {
      m_plain = false;
      return;
    }
    std::uint8_t& state = m_state[static_cast<std::size_t>(at)];
    if ((state & how) == how) return;
    state |= how;
    m_queue.push_back(at);
  }

  std::optional<std::uint64_t> target(const Instruction& one, std::uint64_t at) const {
    // A signed distance in units of 4 bytes from the next instruction: bits 34-81, and from 9.0 on 8 more below them in
    // bits 16-23.
    std::int64_t distance = static_cast<std::int64_t>((one.low >> 34 | (one.high & 0x3ffff) << 30) << 16) >> 16;
    if (distance > (std::int64_t{1} << 36) || distance < -(std::int64_t{1} << 36)) return std::nullopt;
    if (m_split) distance = distance * 256 + static_cast<std::int64_t>(one.low >> 16 & 0xff);
    const std::int64_t place = static_cast<std::int64_t>((at + 1) * k_size) + distance * 4;
    if (place < 0 || place % static_cast<std::int64_t>(k_size) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(place) / k_size;
  }

  void jump(const Instruction& one, std::uint64_t at, std::uint8_t how) {
    if (const auto place = target(one, at))
      enter(*place, how);
    else
      m_plain = false;
  }

  void step(std::uint64_t at) {
    const Instruction one = instruction_at(m_code.data() + at * k_size);
    std::uint8_t how = m_state[static_cast<std::size_t>(at)];
    if (one.never()) return enter(at + 1, how);
    switch (effect_of(one)) {
      case Effect::none: break;
      case Effect::calls: how |= k_after_call; break;
      case Effect::stores:
      case Effect::unknown: m_plain = false; return;
    }
    switch (one.operation()) {
      case op::trap:
        if (one.modifiers() != k_trap_kind) m_plain = false;
        m_traps = true;
        if (!one.always()) enter(at + 1, how);
        return;
      case op::exit:
        if ((how & k_after_call) != 0) m_plain = false;
        if (!one.always() || one.modifiers() != k_plain) enter(at + 1, how);
        return;
      case op::branch:
        jump(one, at, how);
        if (!one.always() || one.modifiers() != k_plain) enter(at + 1, how);
        return;
      case op::call: jump(one, at, m_state[static_cast<std::size_t>(at)]); return enter(at + 1, how);
      case op::ret:  // behind its call, where it goes, the reader went on already
        if (!one.always()) enter(at + 1, how);
        return;
      case op::uniform_branch:
      case op::sync_stack_push: jump(one, at, how); return enter(at + 1, how);
      default:
        if (one.base() == (op::branch & 0x1ff) || one.base() == (op::exit & 0x1ff) || one.base() == (op::ret & 0x1ff))
          m_plain = false;
        return enter(at + 1, how);
    }
  }

  Bytes m_code;
  std::uint64_t m_count;
  bool m_split;
  std::vector<std::uint8_t> m_state;
  std::vector<std::uint64_t> m_queue;
  bool m_plain = true, m_traps = false;
};

/// Does it set up its stack, if that, and leave?
bool is_empty(Bytes code) {
  for (std::uint64_t at = 0; at + k_size <= code.size(); at += k_size) {
    const Instruction one = instruction_at(code.data() + at);
    if (one.never() || one.operation() == op::no_operation || sets_stack(one)) continue;
    return one.operation() == op::exit && one.always() && one.modifiers() == k_plain;
  }
  return false;
}

}  // namespace

bool sass_is_known(Capability capability) { return capability >= k_first && capability <= k_last; }

SassFacts read_sass(Bytes code, Capability capability) {
  SassFacts facts;
  const char* at = code.data();
  for (std::uint64_t left = code.size() / k_size; left > 0; --left, at += k_size) {
    const Instruction one = instruction_at(at);
    const std::uint32_t operation = one.operation();
    if (operation == op::no_operation) continue;
    ++facts.instructions;
    if (operation == op::load_local)
      facts.local_load_bytes += access_width(one);
    else if (operation == op::store_local)
      facts.local_store_bytes += access_width(one);
    else if (operation == op::trap)
      facts.traps += !one.never() && one.modifiers() == k_trap_kind;
    else if (is_mma(one.base()))
      ++facts.mma_instructions;
    else if (operation == op::branch && is_endless(one))
      --facts.instructions;
  }
  if (is_empty(code))
    facts.body = Body::empty;
  else if (facts.traps > 0 && BodyReader(code, capability).is_trap())
    facts.body = Body::trap;
  return facts;
}

}  // namespace sagekit
